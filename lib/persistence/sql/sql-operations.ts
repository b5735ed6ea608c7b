import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import { surrounding } from '../contract/open-transaction.js'
import type { ReferringOptions } from '../contract/related-options.js'
import type { ListScope, RowOptions } from '../contract/repository.js'
import { lockOf, WILL_WRITE } from '../contract/row-lock.js'
import { type Scope, scopeOf } from '../contract/scope.js'
import { withRetries } from '../engines/errors/deadlock-retries.js'
import { toCaller } from '../engines/errors/to-caller.js'
import type { Database } from '../engines/executor/executor.js'
import type { Hooks } from '../hooks/call-hooks.js'
import { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import type { References } from '../references/checked-references.js'
import type {
  Operations,
  ReadOperation,
  ReadSettings,
  SendOptions,
  WriteOperation,
} from '../repository/operations.js'
import type { SqlCall } from '../rows/row-call.js'
import type { IndexErrors } from '../schema/index-errors.js'
import type { DataSourceCheck } from '../start-up/data-source-check.js'
import { TransactionScope } from './transaction-scope.js'
import type { SuppressingTriggers } from './trigger-guard.js'
import { atomically, current, type Joined, withHooks } from './transaction.js'

/** An operation in the transaction that it joins, or on the pool. */
interface JoinedCall extends SqlCall {
  readonly on: Joined
}

/** The work of an operation, limited to the rows that it can reach. */
type Work<T> = (call: JoinedCall, scope: Scope) => Promise<T>

/** Reads whose rows the caller does not name. */
const FINDS_ROWS: ReadonlySet<string> = new Set(['list', 'count'])

/** The objects of a resource that operations use. */
export interface OperationParts {
  readonly model: ResourceModel
  readonly check: DataSourceCheck
  /** True if writes return the written row. */
  readonly canReturn: boolean
  readonly indexes: IndexErrors
  readonly hooks: Pick<Hooks<object>, 'surround'>
  readonly references: References | undefined
  readonly triggers: SuppressingTriggers
}

/** Runs the operations of a repository in a database. */
export class SqlOperations implements Operations<SqlCall> {
  constructor(
    private readonly database: Database,
    private readonly parts: OperationParts,
  ) {}

  read<T>(
    name: string,
    options: ListScope | undefined,
    work: (operation: ReadOperation<SqlCall>) => Promise<T>,
    settings?: ReadSettings,
  ): Promise<T> {
    if (options?.lock !== undefined || options?.wait !== undefined)
      return this.#perform(
        name,
        options,
        async (call, scope) => {
          const lock = lockOf(this.database, this.#named(name), options, settings)
          const result = await work({ call, scope, lock })
          const { on } = call
          if (on instanceof TransactionScope && !(WILL_WRITE in options)) on.connection.snapshot.locked()
          return result
        },
        settings?.scope,
      )
    const read = (call: JoinedCall, scope: Scope) => work({ call, scope, lock: undefined })
    return this.#perform(name, options, FINDS_ROWS.has(name) ? this.#fresh(read) : read, settings?.scope)
  }

  /**
   * Makes a list or count in a transaction fail if it would use a snapshot from before a lock. A rule across
   * rows locks a row and then counts others, and must count the latest ones.
   */
  #fresh<T>(read: Work<T>): Work<T> {
    const { type } = this.parts.model
    return (call, scope) => {
      const { on } = call
      return on instanceof TransactionScope
        ? on.connection.snapshot.check(on, type, call).then(() => read(call, scope))
        : read(call, scope)
    }
  }

  write<T>(
    name: string,
    options: (RowOptions & ReferringOptions) | undefined,
    work: (operation: WriteOperation<SqlCall>) => Promise<T>,
  ): Promise<T> {
    return this.#perform(name, options, (call, scope) => {
      if (call.on instanceof TransactionScope) call.on.refuseReadOnly(this.#named(name))
      return work(new SqlWrite(this, this.parts.references, name, options, scope, call))
    })
  }

  /**
   * Sends a write. It runs in its own transaction, or in a savepoint of the transaction that the call joins,
   * for any of these reasons:
   *
   * - hooks are called, of the entity or of others that are written with it;
   * - the operation requests it (`isAtomic`), as batches do and a create with several statements;
   * - the operation does not specify it, and the resource has `@Emits()`, regardless of the events it emits;
   * - the operation does not specify it, and the written row must be read with another statement;
   * - it may write rows of several resources (`together`);
   * - it writes a reference, and another statement locks the referenced row;
   * - a trigger of the table may suppress the write, so that its other effects must be rolled back;
   * - the authorizer's code must check a referenced row (`asksCode`), which stays locked until the write.
   *
   * Other writes are sent directly. Outside a transaction they are repeated after a deadlock.
   */
  async send<T>(
    name: string,
    options: RowOptions | undefined,
    call: JoinedCall,
    write: (call: SqlCall) => Promise<T>,
    { isAtomic, together }: SendOptions<SqlCall> = {},
  ): Promise<T> {
    const { model, canReturn, hooks, triggers } = this.parts
    const { on, context, referable } = call
    const emits = model.events !== undefined
    if (together !== undefined && on !== this.database) await together.checkJoined(call)
    const isGuarded = triggers.known ?? (await triggers.read(call))
    let result: T
    if (hooks.surround(name) || together?.callsHooks === true) {
      const hooked = (executor: SqlCall['on'], inside: NonNullable<SqlCall['inside']>) =>
        write({ ...call, on: executor, inside })
      result = await withHooks(on, context, surrounding(options?.context), hooked, together?.settings)
    } else if (
      (isAtomic ?? (!canReturn || emits)) ||
      together !== undefined ||
      isGuarded ||
      referable?.asksCode === true
    )
      result = await atomically(on, context, (inside) => write({ ...call, on: inside }), together?.settings)
    // In a transaction, the whole transaction is repeated after a deadlock.
    else result = await (on === this.database ? withRetries(() => write(call), call) : write(call))
    if (emits || together?.emits === true) this.#wake(on)
    return result
  }

  /** Notifies consumers once the events are committed. */
  #wake(on: Joined): void {
    const { wake } = OutboxWriter.of(this.database)
    if (on instanceof TransactionScope) on.afterCommit(wake)
    else wake()
  }

  /** Performs an operation in the transaction that the call joins, which waits for it, or on the pool. */
  async #perform<T>(name: string, options: RowOptions | undefined, work: Work<T>, given?: Scope): Promise<T> {
    const { model, check, indexes, triggers } = this.parts
    try {
      const scope = given ?? scopeOf(model, options)
      const { context } = scope
      const on = current(this.database, options?.context)
      // The end of the call's time, which authorization gives the context as `signal`.
      const { end: signal } = context
      const call: JoinedCall = signal === undefined ? { on, context } : { on, context, signal }
      const checked = check.isPending
        ? () =>
            check
              .run(on, call)
              .then(() => triggers.read(call))
              .then(() => work(call, scope))
        : undefined
      return await (on instanceof TransactionScope
        ? on.perform(this.#named(name), checked ?? (() => work(call, scope)))
        : (checked?.() ?? work(call, scope)))
    } catch (error) {
      throw toCaller(error, indexes, REFERRING.has(name))
    }
  }

  #named(name: string): string {
    return `${this.parts.model.entity.name}.${name}`
  }
}

/** Operations that can write references. */
const REFERRING: ReadonlySet<string> = new Set(['create', 'update', 'modify', 'batchUpdate'])

/** A write that an operation prepares. */
class SqlWrite implements WriteOperation<SqlCall> {
  constructor(
    private readonly operations: SqlOperations,
    private readonly references: References | undefined,
    private readonly name: string,
    private readonly options: (RowOptions & ReferringOptions) | undefined,
    readonly scope: Scope,
    private call: JoinedCall,
    /** True if the write sets a reference whose target another statement locks. */
    private isApart = false,
  ) {}

  async refers(...written: readonly Readonly<Values>[]): Promise<void> {
    const { references } = this
    this.isApart = references !== undefined && !references.areTaken && references.arePatched(written)
    const referable = await this.references?.referable(this.options?.references, written)
    if (referable !== undefined) this.call = { ...this.call, referable }
  }

  send<T>(write: (call: SqlCall) => Promise<T>, how?: SendOptions<SqlCall>): Promise<T> {
    const together = this.isApart ? { ...how, isAtomic: true } : how
    return this.operations.send(this.name, this.options, this.call, write, together)
  }
}
