import { type CallTransaction, RequestContext } from '../../context.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import { HookCalls } from './hook-calls.js'

/** The transactions that a call is inside of, the innermost first. A context holds them. */
export class TransactionChain implements CallTransaction {
  static readonly #outside = new TransactionChain([], [], [])

  /**
   * @param hooks - the operations whose hooks make the calls, the innermost first.
   * @param left - transactions around the call that it does not join. They may wait for it all the same.
   */
  private constructor(
    private readonly transactions: readonly OpenTransaction[],
    private readonly hooks: readonly HookCalls[],
    private readonly left: readonly OpenTransaction[],
  ) {}

  /** The transaction, inside of what surrounds it. */
  static of(transaction: OpenTransaction): TransactionChain {
    const { transactions, hooks, left } = transaction.around ?? TransactionChain.#outside
    return new TransactionChain([transaction, ...transactions], hooks, left)
  }

  /** The chain in which the hooks of an operation are called, inside of no transaction more. */
  static ofHooks(around: TransactionChain | undefined): TransactionChain {
    const { transactions, hooks, left } = around ?? TransactionChain.#outside
    return new TransactionChain(transactions, [new HookCalls(), ...hooks], left)
  }

  /** One chain inside of another. */
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

  /** The chain of a call that joins none of the transactions, and runs in no hook. */
  detached(): TransactionChain {
    return new TransactionChain([], [], [...this.transactions, ...this.left].filter(isNotOver))
  }

  /** The transactions around that hold a connection of the database. */
  holding(database: object): readonly OpenTransaction[] {
    const holds = (each: OpenTransaction) =>
      each.database === database && isNotOver(each) && each.held !== undefined
    return [...this.transactions, ...this.left].filter(holds)
  }

  /** The innermost transaction of `database` that fulfils the condition. */
  find(database: object, condition: (transaction: OpenTransaction) => boolean): OpenTransaction | undefined {
    return this.transactions.find((each) => each.database === database && condition(each))
  }

  /** The innermost open one, of whatever database. */
  get innermost(): OpenTransaction | undefined {
    return this.transactions.find(isOpen)
  }

  get depth(): number {
    return this.transactions.length
  }

  /** The number of operations the innermost hook is inside of, each in a hook of the next. */
  get hookDepth(): number {
    return this.hooks.length
  }

  /** Of the innermost hook. */
  get hookCalls(): HookCalls | undefined {
    return this.hooks[0]
  }

  checked<T>(work: () => Promise<T>): Promise<T> {
    return this.innermost?.checked(work) ?? work()
  }

  afterCommit(fn: () => unknown, context: RequestContext): void {
    // A hook after a read, outside of transactions.
    if (this.transactions.length === 0) return void context.runLogged(fn)
    const open = this.transactions.find(({ isOver }) => !isOver)
    if (open === undefined) throw new TypeError(ENDED)
    open.afterCommit(fn)
  }
}

/** A connection of a pool that a transaction holds until it ends. The same object for its savepoints. */
export interface HeldConnection {
  /** Grows with each use. */
  readonly uses: number
  /** Statements that run on it now. */
  readonly running: number
}

const NONE: readonly OpenTransaction[] = []

/** The transactions around the running code that hold a connection of the database, which needs one more. */
export function holdersAround(database: object): readonly OpenTransaction[] {
  const { transaction } = RequestContext.current()
  return transaction instanceof TransactionChain ? transaction.holding(database) : NONE
}

/** The behavior that the transactions of every database share. */
export abstract class OpenTransaction {
  #state: 'open' | 'ending' | 'over' = 'open'
  readonly #calls = new Map<Promise<unknown>, string>()
  /** The promises that callers received. */
  readonly #given = new Set<Promise<unknown>>()
  #allSettled: () => void = () => {}
  readonly #afterCommit: (() => unknown)[] = []

  /**
   * @param database - whose transaction it is, compared by identity.
   * @param around - the transactions that this one was started in, of whatever database.
   * @param outer - the transaction of the same database that this one is a savepoint of.
   * @param isReadOnly - whether writes are refused.
   */
  constructor(
    readonly database: object,
    readonly around: TransactionChain | undefined,
    private readonly outer: OpenTransaction | undefined,
    readonly isReadOnly: boolean,
  ) {}

  /** The connection that it holds, if it is known. */
  get held(): HeldConnection | undefined {
    return undefined
  }

  /** Writes events in it. */
  abstract append(rows: readonly OutboxRow[]): Promise<void>

  /** Runs `work`, and then checks the rules that the database otherwise checks at COMMIT. */
  checked<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** False as soon as its function has returned. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Its function has returned, and calls that it did not await still run. */
  get isEnding(): boolean {
    return this.#state === 'ending'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Runs a call that has to settle before the transaction ends; `name` says which one was not awaited. */
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
   * Records the promise that a call returned, because your code may not await it. Nothing is attached to the
   * promise before the function has returned, so until then its rejection is unhandled like any other.
   */
  watch(given: Promise<unknown>): void {
    if (this.#state !== 'open') ignore(given)
    else if (this.#calls.size > 0) this.#given.add(given)
  }

  /** @throws TypeError inside of a transaction that only reads. */
  refuseReadOnly(name: string): void {
    if (this.isReadOnly) throw new TypeError(`${name} inside of a transaction with readOnly: true`)
  }

  afterCommit(fn: () => unknown): void {
    if (this.isOver) throw new TypeError(ENDED)
    this.#afterCommit.push(fn)
  }

  /**
   * Refuses new calls, and resolves when the running ones have settled.
   * @throws TypeError that names the calls that the function did not await.
   */
  protected async settle(): Promise<void> {
    this.#state = 'ending'
    for (const given of this.#given) ignore(given)
    const names = [...new Set(this.#calls.values())]
    if (names.length === 0) return
    await new Promise<void>((resolve) => (this.#allSettled = resolve))
    throw new TypeError(
      `the function of the transaction did not await ${names.join(', ')}: everything is rolled back, await it inside`,
    )
  }

  #settled(): void {
    this.#given.clear()
    this.#allSettled()
  }

  /**
   * The transaction was committed, released into its outer transaction, or rolled back. Returns the functions
   * to run now.
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

/** A transaction of TypeORM's own, which no call joins by being made inside of it. */
export class UnjoinedTransaction extends OpenTransaction {
  constructor(database: object) {
    super(database, surrounding(undefined), undefined, false)
  }

  override append(): Promise<void> {
    return Promise.reject(new TypeError(USE_WITH_MANAGER))
  }

  /** Runs `fn` inside of it. */
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
  'the call is made inside of dataSource.transaction() and would wait for its end: call repository.withManager(manager), or begin the transaction with the transaction() of the repository'

/** The context of a call, inside of a transaction that it joins whatever surrounds it. */
export const insideOf = (transaction: OpenTransaction, context: RequestContext): RequestContext =>
  context.with({
    transaction: TransactionChain.joined(TransactionChain.of(transaction), chainOf(context)),
  })

/** The error message of a late call. */
export const ENDED = 'the transaction has ended: await everything inside of it before its function returns'

/**
 * The transaction of `database` that a call joins: the innermost open one around the running code, or the
 * transaction of the context that the call was given, or none.
 * @param given - the context that the call was given explicitly.
 * @throws TypeError if the transaction has ended, or belongs to another call.
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

/** Lets the transaction that a call has joined know the promise that its caller is given. */
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

/** The transaction of the database that a call is made in, until it is over. */
export function openAround(database: object, given: RequestContext | undefined): OpenTransaction | undefined {
  const ambient = RequestContext.current()
  const own = given === undefined || given === ambient ? undefined : chainOf(given)
  return chainOf(ambient)?.find(database, isNotOver) ?? own?.find(database, isNotOver)
}

/** The promise that a hook is given of a call; the call itself outside of hooks. */
export function tracked<T>(name: string, call: Promise<T>): Promise<T> {
  const ambient = RequestContext.current()
  return chainOf(ambient)?.hookCalls?.track(name, call, ambient) ?? call
}

/** Settings as a user writes them, including TypeORM's names. */
type NestedSettings = { readonly [K in 'isolation' | 'readOnly' | 'maxAttempts' | 'retries']?: unknown }

/** @throws TypeError for settings of a savepoint, which uses the outermost transaction's. */
export function refuseNested({ isolation, readOnly, maxAttempts, retries }: NestedSettings): void {
  if ([isolation, readOnly, maxAttempts, retries].every((setting) => setting === undefined)) return
  throw new TypeError(
    'isolation, readOnly and maxAttempts are settings of the outermost transaction, and this one is nested: set them there, as in transaction(fn, { isolation })',
  )
}

/** The chain that a transaction begins in when it is started with the context `given`. */
export const surrounding = (given: RequestContext | undefined): TransactionChain | undefined =>
  TransactionChain.joined(chainOf(RequestContext.current()), given && chainOf(given))

const OTHER_CALL =
  'a transaction of the running call is open on this database, and the context is of another call: leave the context out, derive it with RequestContext.as() or asSystem(), or leave the transaction with RequestContext.detached()'

/** TypeORM's own are of no interest once they are over. */
const any = (transaction: OpenTransaction) =>
  !(transaction instanceof UnjoinedTransaction && transaction.isOver)
const isOpen = (transaction: OpenTransaction) => transaction.isOpen
const isNotOver = (transaction: OpenTransaction) => !transaction.isOver

const chainOf = ({ transaction }: RequestContext): TransactionChain | undefined =>
  transaction instanceof TransactionChain ? transaction : undefined

const ignore = (promise: Promise<unknown>): void => void promise.catch(() => {})

/** There may no longer be a caller that handles the rejection. */
export const late = (context: RequestContext): TypeError => {
  const error = new TypeError(ENDED)
  context.reportFailure('a call came after its transaction had ended', error)
  return error
}

/**
 * Runs the `afterCommit` functions, one after another. Their errors are logged, because the changes are
 * already saved.
 * @param outside - the context that the transaction was begun in. It is still inside of an open one of
 * another database, which waits for this: a call that did not join that one would wait for it in turn.
 */
export async function runAfterCommit(
  fns: readonly (() => unknown)[],
  outside: RequestContext,
): Promise<void> {
  for (const fn of fns) await outside.runLogged(fn)
}
