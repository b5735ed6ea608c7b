import { type CallTransaction, RequestContext } from '../../context.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import { HookCalls } from './hook-calls.js'

/** The open transactions around a call, innermost first. Stored in the request context. */
export class TransactionChain implements CallTransaction {
  static readonly #outside = new TransactionChain([], [], [])

  /**
   * @param hooks - the operations whose hooks make the call, innermost first.
   * @param left - surrounding transactions that the call does not join. They may nevertheless wait for it.
   */
  private constructor(
    private readonly transactions: readonly OpenTransaction[],
    private readonly hooks: readonly HookCalls[],
    private readonly left: readonly OpenTransaction[],
  ) {}

  /** Returns the chain of a transaction and everything around it. */
  static of(transaction: OpenTransaction): TransactionChain {
    const { transactions, hooks, left } = transaction.around ?? TransactionChain.#outside
    return new TransactionChain([transaction, ...transactions], hooks, left)
  }

  /** Returns the chain for an operation's hooks, which run in the operation's transactions. */
  static ofHooks(around: TransactionChain | undefined): TransactionChain {
    const { transactions, hooks, left } = around ?? TransactionChain.#outside
    return new TransactionChain(transactions, [new HookCalls(), ...hooks], left)
  }

  /** Combines the chains of two nested contexts. */
  static joined(
    inner: TransactionChain | undefined,
    outer: TransactionChain | undefined,
  ): TransactionChain | undefined {
    if (inner === undefined || outer === undefined) return inner ?? outer
    const union = <T>(of: (chain: TransactionChain) => readonly T[]) => [
      ...new Set([...of(inner), ...of(outer)]),
    ]
    return new TransactionChain(
      union(({ transactions }) => transactions),
      union(({ hooks }) => hooks),
      union(({ left }) => left),
    )
  }

  /** Returns the chain of a call that joins no transaction and does not run in a hook. */
  detached(): TransactionChain {
    return new TransactionChain([], [], [...this.transactions, ...this.left].filter(isNotOver))
  }

  /** Returns the surrounding transactions that hold a connection of the database. */
  holding(database: object): readonly OpenTransaction[] {
    const holds = (each: OpenTransaction) =>
      each.database === database && isNotOver(each) && each.held !== undefined
    return [...this.transactions, ...this.left].filter(holds)
  }

  /** Returns the innermost transaction of `database` that satisfies the condition. */
  find(database: object, condition: (transaction: OpenTransaction) => boolean): OpenTransaction | undefined {
    return this.transactions.find((each) => each.database === database && condition(each))
  }

  /** Returns the innermost open transaction of any database. */
  get innermost(): OpenTransaction | undefined {
    return this.transactions.find(isOpen)
  }

  get depth(): number {
    return this.transactions.length
  }

  /** The number of nested operations around the innermost hook, each running in a hook of the next. */
  get hookDepth(): number {
    return this.hooks.length
  }

  /** The calls of the innermost hook. */
  get hookCalls(): HookCalls | undefined {
    return this.hooks[0]
  }

  checked<T>(work: () => Promise<T>): Promise<T> {
    return this.innermost?.checked(work) ?? work()
  }

  afterCommit(fn: () => unknown, context: RequestContext): void {
    // The call runs in a hook after a read, outside transactions.
    if (this.transactions.length === 0) return void context.runLogged(fn)
    const open = this.transactions.find(({ isOver }) => !isOver)
    if (open === undefined) throw new TypeError(ENDED)
    open.afterCommit(fn)
  }
}

/** A pooled connection that a transaction holds until it ends. Its savepoints share the same object. */
export interface HeldConnection {
  /** A counter that increases with each use. */
  readonly uses: number
  /** The number of statements that are running on it. */
  readonly running: number
}

const NONE: readonly OpenTransaction[] = []

/**
 * Returns the surrounding transactions that hold a connection of the database. A call that needs another
 * connection waits while these are held.
 */
export function holdersAround(database: object): readonly OpenTransaction[] {
  const { transaction } = RequestContext.current()
  return transaction instanceof TransactionChain ? transaction.holding(database) : NONE
}

/** The part of a transaction that is the same for every database. */
export abstract class OpenTransaction {
  #state: 'open' | 'ending' | 'over' = 'open'
  readonly #calls = new Map<Promise<unknown>, string>()
  /** The promises that were returned to callers. */
  readonly #given = new Set<Promise<unknown>>()
  #allSettled: () => void = () => {}
  readonly #afterCommit: (() => unknown)[] = []

  /**
   * @param database - the transaction's database, compared by identity.
   * @param around - the transactions in which this one was started, of any database.
   * @param outer - the transaction of the same database in which this one is a savepoint.
   * @param isReadOnly - whether writes are rejected.
   */
  constructor(
    readonly database: object,
    readonly around: TransactionChain | undefined,
    private readonly outer: OpenTransaction | undefined,
    readonly isReadOnly: boolean,
  ) {}

  /** The connection that the transaction holds, if it is known. */
  get held(): HeldConnection | undefined {
    return undefined
  }

  /** Writes events in this transaction. */
  abstract append(rows: readonly OutboxRow[]): Promise<void>

  /** Runs `work` and then checks the constraints that the database would otherwise check at COMMIT. */
  checked<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** True until the transaction's function has returned. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** True if the transaction's function has returned but calls that it did not await are still running. */
  get isEnding(): boolean {
    return this.#state === 'ending'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /**
   * Runs a call that must settle before the transaction ends.
   *
   * @param name - identifies the call in the error if it was not awaited.
   */
  async perform<T>(name: string, work: () => Promise<T>): Promise<T> {
    const call = work()
    this.#calls.set(call, name)
    try {
      return await call
    } finally {
      this.#calls.delete(call)
      if (this.#calls.size === 0) this.#settled()
    }
  }

  /**
   * Records the promise of a call, because the application may not await it. No handler is attached before
   * the function has returned, so until then a rejection is reported as unhandled, like any other.
   */
  watch(given: Promise<unknown>): void {
    if (this.#state !== 'open') ignore(given)
    else if (this.#calls.size > 0) this.#given.add(given)
  }

  /**
   * Rejects writes in a read-only transaction.
   *
   * @throws TypeError inside a read-only transaction.
   */
  refuseReadOnly(name: string): void {
    if (this.isReadOnly) throw new TypeError(`${name} inside a transaction with readOnly: true`)
  }

  afterCommit(fn: () => unknown): void {
    if (this.isOver) throw new TypeError(ENDED)
    this.#afterCommit.push(fn)
  }

  /**
   * Rejects new calls and waits for the running calls.
   *
   * @throws TypeError with the names of the calls that the function did not await.
   */
  protected async settle(): Promise<void> {
    this.#state = 'ending'
    for (const given of this.#given) ignore(given)
    const names = [...new Set(this.#calls.values())]
    if (names.length === 0) return
    await new Promise<void>((resolve) => (this.#allSettled = resolve))
    throw new TypeError(
      `the function of the transaction did not await ${names.join(', ')}, so everything is rolled back: await it inside`,
    )
  }

  #settled(): void {
    this.#given.clear()
    this.#allSettled()
  }

  /**
   * Ends the transaction after its commit, release or rollback. Returns the `afterCommit` functions to run
   * now.
   */
  over(outcome: 'kept' | 'rolled back'): readonly (() => unknown)[] {
    this.#state = 'over'
    const fns = this.#afterCommit.splice(0)
    if (outcome === 'rolled back') return []
    if (this.outer === undefined) return fns
    this.outer.#afterCommit.push(...fns)
    return []
  }
}

/** A transaction that TypeORM opened itself. Calls inside it do not join it automatically. */
export class UnjoinedTransaction extends OpenTransaction {
  constructor(database: object) {
    super(database, surrounding(undefined), undefined, false)
  }

  override append(): Promise<void> {
    return Promise.reject(new TypeError(USE_WITH_MANAGER))
  }

  /** Runs `fn` inside this transaction. */
  async run<T>(fn: () => Promise<T>): Promise<T> {
    try {
      return await RequestContext.current()
        .with({ transaction: TransactionChain.of(this) })
        .run(fn)
    } finally {
      this.over('rolled back')
    }
  }
}

const USE_WITH_MANAGER =
  'the call is made inside dataSource.transaction() and would wait for its end: call repository.withManager(manager), or start the transaction with the transaction() of the repository'

/** Returns the context of a call inside a transaction, which it joins regardless of the surrounding ones. */
export const insideOf = (transaction: OpenTransaction, context: RequestContext): RequestContext =>
  context.with({
    transaction: TransactionChain.joined(TransactionChain.of(transaction), chainOf(context)),
  })

export const ENDED = 'the transaction has ended: await everything inside it before its function returns'

/**
 * Returns the transaction of `database` that a call joins: the innermost open transaction around the running
 * code, otherwise the transaction of the call's context, or undefined.
 *
 * @param given - the context that was explicitly passed to the call.
 * @throws TypeError if the transaction has ended or belongs to another call.
 */
export function joined(database: object, given: RequestContext | undefined): OpenTransaction | undefined {
  const ambient = RequestContext.current()
  if (ambient.transaction === undefined && given?.transaction === undefined) return undefined
  const around = chainOf(ambient)
  const isGiven = given !== undefined && given !== ambient
  const own = isGiven ? chainOf(given)?.find(database, any) : undefined
  if (own?.isOpen === false) throw late(given as RequestContext)
  const latest = around?.find(database, any)
  if (latest?.isEnding === true) throw late(ambient)
  const open = around?.find(database, isOpen)
  if (open !== undefined && isGiven && !given.isOfSameCallAs(ambient)) throw new TypeError(OTHER_CALL)
  if (open instanceof UnjoinedTransaction) throw new TypeError(USE_WITH_MANAGER)
  if (open !== undefined) return open
  if (own !== undefined) return own
  if (latest !== undefined) throw late(ambient)
  return undefined
}

/** Registers the promise that the caller receives with the transaction that the call has joined. */
export function watched<T>(
  database: object,
  given: RequestContext | undefined,
  name: string,
  work: Promise<T>,
): Promise<T> {
  const call = tracked(name, work)
  openAround(database, given)?.watch(call)
  return call
}

/** Returns the transaction of the database around a call, if it has not ended. */
export function openAround(database: object, given: RequestContext | undefined): OpenTransaction | undefined {
  const ambient = RequestContext.current()
  const own = given === undefined || given === ambient ? undefined : chainOf(given)
  return chainOf(ambient)?.find(database, isNotOver) ?? own?.find(database, isNotOver)
}

/** Returns the promise that a hook receives for a call. Outside hooks this is the call itself. */
export function tracked<T>(name: string, call: Promise<T>): Promise<T> {
  const ambient = RequestContext.current()
  return chainOf(ambient)?.hookCalls?.track(name, call, ambient) ?? call
}

/** Transaction settings as an application writes them, including TypeORM's names. */
type NestedSettings = { readonly [K in 'isolation' | 'readOnly' | 'maxAttempts' | 'retries']?: unknown }

/**
 * Rejects settings of a nested transaction. It is a savepoint and uses the outermost transaction's settings.
 *
 * @throws TypeError if a setting is present.
 */
export function refuseNested({ isolation, readOnly, maxAttempts, retries }: NestedSettings): void {
  if ([isolation, readOnly, maxAttempts, retries].every((setting) => setting === undefined)) return
  throw new TypeError(
    'isolation, readOnly and maxAttempts are settings of the outermost transaction, but this one is nested: set them there, as in transaction(fn, { isolation })',
  )
}

/** Returns the chain in which a transaction begins when it is started with the context `given`. */
export const surrounding = (given: RequestContext | undefined): TransactionChain | undefined =>
  TransactionChain.joined(chainOf(RequestContext.current()), given && chainOf(given))

const OTHER_CALL =
  'the running call has an open transaction on this database, but the context belongs to another call: leave the context out, derive it with RequestContext.as() or asSystem(), or leave the transaction with RequestContext.detached()'

/** Returns true for transactions of Ashlar, and for open transactions that TypeORM opened itself. */
const any = (transaction: OpenTransaction) =>
  !(transaction instanceof UnjoinedTransaction && transaction.isOver)
const isOpen = (transaction: OpenTransaction) => transaction.isOpen
const isNotOver = (transaction: OpenTransaction) => !transaction.isOver

const chainOf = ({ transaction }: RequestContext): TransactionChain | undefined =>
  transaction instanceof TransactionChain ? transaction : undefined

const ignore = (promise: Promise<unknown>): void => void promise.catch(() => {})

/**
 * Returns the error of a call after its transaction has ended, and logs it, because the caller may no longer
 * handle the rejection.
 */
export const late = (context: RequestContext): TypeError => {
  const error = new TypeError(ENDED)
  context.reportFailure('a call was made after its transaction had ended', error)
  return error
}

/**
 * Runs the `afterCommit` functions one after another. Their errors are logged, because the changes are
 * already saved.
 *
 * @param outside - the context in which the transaction was started. It may be inside an open transaction
 *   of
 * another database that waits for these functions. A call that did not join that transaction would wait for
 * it and cause a deadlock.
 */
export async function runAfterCommit(
  fns: readonly (() => unknown)[],
  outside: RequestContext,
): Promise<void> {
  for (const fn of fns) await outside.runLogged(fn)
}
