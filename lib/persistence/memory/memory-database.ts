import { attemptsOf } from '../contract/attempts.js'
import { RequestContext } from '../../context.js'
import { DeclarationError, inEntity } from '../../errors.js'
import {
  type HeldConnection,
  joined,
  OpenTransaction,
  refuseNested,
  runAfterCommit,
  surrounding,
  TransactionChain,
} from '../contract/open-transaction.js'
import type { TransactionOptions } from '../contract/repository.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import { TransactionQueue } from '../contract/transaction-queue.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { deletionProblems, familyOf, type Member } from '../deletion/rules/family.js'
import { MemoryOutbox } from './memory-outbox.js'
import type { Log, MemoryTable } from './memory-table.js'
import { ConnectionWaits } from '../engines/executor/connection-waits.js'
import type { RowCall } from '../rows/row-call.js'
import type { Rows } from '../rows/rows.js'
import type { MemoryReferable } from './memory-references.js'
import { Turns } from '../engines/executor/turns.js'

/** The rows of a resource and their writer. */
export interface MemoryResource {
  readonly table: MemoryTable<object>
  readonly rows: Rows<object, MemoryCall>
  readonly hooks: { surround(operation: string): boolean }
}

/** The time in milliseconds that a call waits for another call's transaction. */
const BUSY_TIMEOUT_MS = 5000

/** Undoes a change. When a transaction fails, changes are undone in reverse order. */
type Undo = () => void

class MemoryTransaction extends OpenTransaction {
  constructor(
    database: MemoryDatabase,
    around: TransactionChain | undefined,
    outer: MemoryTransaction | undefined,
    /** Calls run one after another, because a rollback must not undo the changes of others. */
    readonly queue = new TransactionQueue(),
    /** This and the following parameters are shared by a transaction and its nested transactions. */
    isReadOnly = outer?.isReadOnly ?? false,
    readonly undo: Undo[] = outer?.undo ?? [],
    private readonly connection: { uses: number; readonly running: number } = outer?.connection ?? {
      uses: 0,
      running: 0,
    },
  ) {
    super(database, around, outer, isReadOnly)
  }

  override get held(): HeldConnection {
    return this.connection
  }

  override perform<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.connection.uses++
    return super.perform(name, work)
  }

  rollbackTo(mark: number): void {
    for (const undo of this.undo.splice(mark).reverse()) undo()
  }

  override append(rows: readonly OutboxRow[]): Promise<void> {
    this.refuseReadOnly('emit')
    const { outbox } = this.database as MemoryDatabase
    return this.queue.run(() => apply(this, undefined, (log) => outbox.append(rows, log)))
  }

  async end(): Promise<void> {
    try {
      await this.settle()
    } finally {
      await this.queue.settled()
    }
  }
}

/**
 * Tables in memory with transactions. Calls outside the running transaction wait until it ends, as on SQLite.
 * Repositories that share a database can be written in one transaction.
 */
export class MemoryDatabase {
  readonly #resources = new Map<ResourceModel, MemoryResource>()
  /** The events of all changes. @internal */
  readonly outbox = new MemoryOutbox()
  #family: ReadonlyMap<ResourceModel, Member> | undefined
  readonly #turns = new Turns(BUSY_TIMEOUT_MS, Number.POSITIVE_INFINITY)
  readonly #waits = new ConnectionWaits({ database: this, size: 1, used: 1 }, 0)

  /**
   * Registers the rows of a resource, so that the repositories of other resources can find them.
   * @internal
   */
  add<E extends object>(
    model: ResourceModel<E>,
    resource: { readonly table: MemoryTable<E>; readonly rows: Rows<E, MemoryCall> } & Pick<
      MemoryResource,
      'hooks'
    >,
  ): void {
    this.#resources.set(model, resource as MemoryResource)
    this.#family = undefined
  }

  /**
   * Returns the rows that were last registered for a resource.
   *
   * @internal
   * @throws TypeError if no repository of the resource uses this database.
   */
  resourceOf(model: ResourceModel): MemoryResource {
    const resource = this.#resources.get(model)
    if (resource !== undefined) return resource
    throw new TypeError(
      `this MemoryDatabase has no repository of ${model.entity.name}: give the repositories of related resources the same \`database\``,
    )
  }

  /** The models of the registered resources. @internal */
  get models(): readonly ResourceModel[] {
    return [...this.#resources.keys()]
  }

  /**
   * The relations between the registered resources.
   *
   * @internal
   * @throws DeclarationError if a resource cannot be deleted as declared.
   */
  get family(): ReadonlyMap<ResourceModel, Member> {
    if (this.#family !== undefined) return this.#family
    const family = familyOf(this.models)
    for (const member of family.values()) {
      const problems = deletionProblems(member)
      if (problems.length > 0)
        throw new DeclarationError(member.model.entity.name, inEntity(member.model.entity, problems))
    }
    return (this.#family = family)
  }

  /** Runs an operation. If its call has joined a transaction, the transaction waits for it. @internal */
  perform<T>(
    given: RequestContext | undefined,
    name: string,
    work: (rows: MemoryRows) => Promise<T>,
  ): Promise<T> {
    const running = this.#joined(given)
    if (running === undefined) return work(this.#outside(given))
    return running.perform(name, () =>
      work({
        read: (read) => running.queue.run(read),
        write: async (change) => {
          running.refuseReadOnly(name)
          return running.queue.run(() => apply(running, given, change))
        },
      }),
    )
  }

  /** Runs `fn` in a transaction, or in a savepoint of the transaction that the call joins. */
  transaction<T>(fn: (context: RequestContext) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * @internal
   * @param name - identifies the call in the error if it was not awaited.
   */
  transaction<T>(
    fn: (context: RequestContext) => Promise<T>,
    options: TransactionOptions | undefined,
    name: string,
    hooks?: TransactionChain,
  ): Promise<T>
  async transaction<T>(
    fn: (context: RequestContext) => Promise<T>,
    { context: given, ...settings }: TransactionOptions = {},
    name = 'a transaction',
    hooks?: TransactionChain,
  ): Promise<T> {
    const context = given ?? RequestContext.current()
    const outside = surrounding(given)
    const around = hooks ?? outside
    const running = this.#joined(given)
    if (running !== undefined) {
      refuseNested(settings)
      const nested = (queue: TransactionQueue) =>
        run(new MemoryTransaction(this, around, running, queue), context, fn)
      return (await running.perform(name, () => running.queue.runNested(nested))).result
    }
    attemptsOf(settings, 'transaction')
    const { result, afterCommit } = await this.#turn(true, context, () =>
      run(new MemoryTransaction(this, around, undefined, undefined, settings.readOnly), context, fn),
    )
    await runAfterCommit(afterCommit, context.with({ transaction: outside }))
    return result
  }

  /**
   * Runs an operation in its own transaction, or in a savepoint.
   *
   * @internal
   * @param name - identifies the call in the error if it was not awaited.
   */
  atomically<T>(
    given: RequestContext | undefined,
    name: string,
    work: (rows: MemoryRows, inside: RequestContext) => Promise<T>,
    hooks?: TransactionChain,
  ): Promise<T> {
    const options = given === undefined ? {} : { context: given }
    const inTurn = (inside: RequestContext) => this.perform(inside, name, (rows) => work(rows, inside))
    return this.transaction(inTurn, options, name, hooks)
  }

  /**
   * Runs an operation and the hooks of its entity in one transaction or savepoint. Calls with the context
   * that `work` receives join it.
   * @internal
   */
  async withHooks<T>(
    given: RequestContext | undefined,
    name: string,
    work: (rows: MemoryRows, inside: RequestContext) => Promise<T>,
  ): Promise<T> {
    const hooks = TransactionChain.ofHooks(surrounding(given))
    try {
      return await this.atomically(given, name, work, hooks)
    } finally {
      hooks.hookCalls?.over()
    }
  }

  /**
   * Rejects writes in a read-only transaction.
   *
   * @internal
   * @throws TypeError if the call has joined a read-only transaction.
   */
  refuseReadOnly(given: RequestContext | undefined, name: string): void {
    this.#joined(given)?.refuseReadOnly(name)
  }

  #outside(given: RequestContext | undefined): MemoryRows {
    const turn = <T>(work: () => T) => this.#turn(false, given ?? RequestContext.current(), work)
    return {
      read: turn,
      write: (change) => turn(() => apply(new MemoryTransaction(this, undefined, undefined), given, change)),
    }
  }

  #joined(given: RequestContext | undefined): MemoryTransaction | undefined {
    const transaction = joined(this, given)
    return transaction instanceof MemoryTransaction ? transaction : undefined
  }

  /** Waits for a turn: either for one transaction or for any number of single operations. */
  async #turn<T>(alone: boolean, context: RequestContext, work: () => T | Promise<T>): Promise<T> {
    const turn = this.#waits.wait((end) => this.#turns.enter(alone, end, context), context.end)
    if (turn !== undefined) await turn
    try {
      return await work()
    } finally {
      this.#turns.leave()
      this.outbox.tell()
    }
  }
}

/**
 * Reads and writes rows in the operation's transaction or turn. The functions are synchronous, so that no
 * caller can see a partial change.
 */
export interface MemoryRows {
  readonly read: <T>(read: () => T) => Promise<T>
  /** Makes a change completely or not at all. */
  readonly write: <T>(change: Change<T>) => Promise<T>
}

/** An operation on rows in memory. */
export interface MemoryCall extends RowCall, MemoryRows {
  /** The rows that the caller of a write may refer to. Undefined for all rows. */
  readonly referable?: MemoryReferable | undefined
}

/** Changes rows, and logs how to undo each change. */
type Change<T> = (log: Log) => T

/**
 * The context of a transaction without a database. Its type has no `manager` and `sql`, and reading them
 * throws.
 */
class MemoryTransactionContext extends RequestContext {
  constructor(context: RequestContext, transaction: MemoryTransaction) {
    super(RequestContext.fieldsOf(context, { transaction: TransactionChain.of(transaction) }))
    Object.freeze(this)
  }

  get manager(): never {
    throw new TypeError('manager: an in-memory repository has no TypeORM: use a SqliteDataSource on :memory:')
  }

  get sql(): never {
    throw new TypeError('sql: an in-memory repository has no SQL: use a SqliteDataSource on :memory:')
  }
}

async function run<T>(
  transaction: MemoryTransaction,
  context: RequestContext,
  fn: (context: RequestContext) => Promise<T>,
): Promise<{ readonly result: T; readonly afterCommit: readonly (() => unknown)[] }> {
  const mark = transaction.undo.length
  const inside = new MemoryTransactionContext(context, transaction)
  try {
    const result = await inside.run(() => fn(inside))
    await transaction.end()
    return { result, afterCommit: transaction.over('kept') }
  } catch (error) {
    await transaction.end().catch(() => {})
    transaction.over('rolled back')
    transaction.rollbackTo(mark)
    throw error
  }
}

function apply<T>(transaction: MemoryTransaction, context: RequestContext | undefined, change: Change<T>): T {
  const mark = transaction.undo.length
  try {
    const log = (undo: Undo): void => void transaction.undo.push(undo)
    return change(Object.assign(log, { context: context ?? RequestContext.current() }))
  } catch (error) {
    transaction.rollbackTo(mark)
    throw error
  }
}
