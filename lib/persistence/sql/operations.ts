import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListScope, ReadTogether, RowOptions } from '../contract/repository.js'
import { surrounding, TransactionChain } from '../contract/open-transaction.js'
import { type LockClause, lockOf, WILL_WRITE } from '../contract/row-lock.js'
import { type Scope, scopeOf } from '../contract/scope.js'
import type { BeginOptions } from '../dialects/dialect.js'
import type { KeptOfPage } from '../dialects/values/hand-over.js'
import { withRetries } from '../engines/errors/constraint-error.js'
import type { Database } from '../engines/executor/executor.js'
import type { LateTransaction } from '../engines/executor/late-transaction.js'
import { entitiesRead, Hooks } from '../hooks/call-hooks.js'
import { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { RowsTogether, type SearchedTable } from '../relations/rows-together.js'
import { SearchedRows } from '../relations/searched-rows.js'
import type { SqlCall } from '../rows/row-call.js'
import type { ReferringOptions } from '../contract/related-options.js'
import type { Values } from '../contract/new-entity.js'
import type { Referable } from '../rows/referable.js'
import type { References } from '../references/references.js'
import { tableNameOf } from '../schema/table-name-of.js'
import { EntitySubscribers } from '../typeorm/subscribers.js'
import type { DataSourceCheck } from './data-source-check.js'
import type { IndexErrors } from '../schema/index-errors.js'
import { knownHydratorsOf } from './row-codec.js'
import { RowStore } from './row-store.js'
import { toCaller } from '../engines/errors/to-caller.js'
import { TransactionScope } from './transaction-scope.js'
import { atomically, current, type Joined, withHooks } from './transaction.js'

/** An operation on the transaction that it joins, or on the pool. */
interface JoinedCall extends SqlCall {
  readonly on: Joined
}

/** What an operation does, and whose rows it reaches. */
type Work<T> = (call: JoinedCall, scope: Scope) => Promise<T>

/** @param kept - what the statement of a list keeps for those behind it. */
type Read<T> = (call: SqlCall, scope: Scope, lock?: LockClause, kept?: KeptOfPage) => Promise<T>

/** Has the caller of a write asked about what these values refer to, before a transaction begins for it. */
type Refers = (...written: readonly Readonly<Values>[]) => Promise<void>

/** The operations that write one row, and nothing after it. */
const WRITES_ONE_ROW: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'undelete'])

/** The reads that find rows which nobody named. */
const FINDS_ROWS: ReadonlySet<string> = new Set(['list', 'count'])

/** How an operation runs that writes rows of several resources. */
export interface Together {
  /** Whether it calls hooks of one of them. */
  readonly callsHooks: boolean
  /** Whether it may write events. */
  readonly tells: boolean
  /** What a transaction begins with that is made for the operation alone. */
  readonly settings: BeginOptions
  /** @throws ErrPreconditionFailed for a transaction that it cannot join. */
  checkJoined(call: SqlCall): Promise<void>
}

/** How the operations of one repository run: their principal, transaction, retries and errors. */
export class Operations {
  #related: RowsTogether | undefined
  /** Whether a write may write events. */
  private readonly tells: boolean

  /**
   * @param canReturn - whether a write returns the row that it wrote.
   * @param hooks - undefined where nothing is ever called.
   */
  constructor(
    private readonly database: Database,
    private readonly model: ResourceModel,
    private readonly check: DataSourceCheck,
    private readonly canReturn: boolean,
    private readonly indexes: IndexErrors,
    private readonly hooks: Pick<Hooks<object>, 'surround' | 'followLoads' | 'loaded'> | undefined,
    private readonly references: References | undefined,
  ) {
    this.tells = model.events !== undefined
  }

  /** @param more - of a list, which may leave locked rows out and names relations elsewhere. */
  async read<T>(
    name: string,
    options: (ListScope & ReadTogether<string>) | undefined,
    work: Read<T>,
    more?: { readonly mayLeaveOut: boolean; readonly with: readonly string[] | undefined },
  ): Promise<T> {
    const scope = scopeOf(this.model, options)
    const paths = more === undefined ? options?.with : more.with
    if (paths !== undefined) work = this.#withRelated(name, options, work, paths)
    if (this.hooks?.followLoads(name) === true) work = this.#withLoads(this.hooks, name, options, work)
    if (options?.lock === undefined && options?.wait === undefined)
      return this.perform(name, options, scope, FINDS_ROWS.has(name) ? this.#fresh(work) : work)
    const lock = lockOf(this.database, this.#named(name), options, more)
    return this.perform(name, options, scope, async (call) => {
      const result = await work(call, scope, lock)
      const { on } = call
      if (on instanceof TransactionScope && !(WILL_WRITE in options)) on.connection.snapshot.locked()
      return result
    })
  }

  /** A rule across rows locks a row, and then counts others: it must not count what was there before it waited. */
  #fresh<T>(work: Read<T>): Work<T> {
    return async (call, scope) => {
      const { on } = call
      if (on instanceof TransactionScope) await on.connection.snapshot.check(on, this.model.type, call)
      return work(call, scope)
    }
  }

  /**
   * Prepares once, then runs as often as a deadlock makes necessary. On dialects that do not return the row they wrote,
   * writing and reading are one transaction.
   */
  async write<T>(
    name: string,
    options: (RowOptions & ReferringOptions) | undefined,
    prepare: (scope: Scope, refers: Refers) => Promise<(call: SqlCall) => Promise<T>>,
    isAtomic = !this.canReturn || this.tells,
    together?: Together,
  ): Promise<T> {
    const { tells } = this
    return this.perform(name, options, scopeOf(this.model, options), async (given, scope) => {
      const { on } = given
      if (on instanceof TransactionScope) on.refuseReadOnly(this.#named(name))
      let referable: Referable | undefined
      const work = await prepare(scope, async (...written) => {
        referable = await this.references?.referable(options?.references, written)
      })
      const call = referable === undefined ? given : { ...given, referable }
      let result: T
      if (together !== undefined && on !== this.database) await together.checkJoined(call)
      if (this.hooks?.surround(name) === true || together?.callsHooks === true)
        result = await withHooks(
          on,
          scope.context,
          surrounding(options?.context),
          (executor, inside, late) => {
            const hooked = { ...call, on: executor, inside }
            return work(late !== undefined && WRITES_ONE_ROW.has(name) ? lateCall(hooked, late) : hooked)
          },
          together?.settings,
        )
      else if (isAtomic || together !== undefined || referable?.asksCode === true)
        result = await atomically(
          on,
          scope.context,
          (inside) => work({ ...call, on: inside }),
          together?.settings,
        )
      // In a transaction a deadlock is the transaction's to retry.
      else result = await (on === this.database ? withRetries(() => work(call), call) : work(call))
      if (tells || together?.tells === true) this.#wake(on)
      return result
    })
  }

  /** Who follows the events hears of them when they are committed. */
  #wake(on: Joined): void {
    const { wake } = OutboxWriter.of(this.database)
    if (on instanceof TransactionScope) on.afterCommit(wake)
    else wake()
  }

  /** On the transaction that the call joins, which does not end before it; or on the pool. */
  async perform<T>(name: string, options: RowOptions | undefined, scope: Scope, work: Work<T>): Promise<T> {
    try {
      const on = current(this.database, options?.context)
      const { context } = scope
      const { end: signal } = context
      const call: JoinedCall = signal === undefined ? { on, context } : { on, context, signal }
      const checked = this.check.isPending ? this.#afterCheck(work) : work
      return await (on instanceof TransactionScope
        ? on.perform(this.#named(name), () => checked(call, scope))
        : checked(call, scope))
    } catch (error) {
      throw toCaller(error, this.indexes)
    }
  }

  #withRelated<T>(
    name: string,
    options: ListScope | undefined,
    read: Read<T>,
    paths: readonly string[],
  ): Read<T> {
    return async (call, scope, lock) => {
      const related = (this.#related ??= new RowsTogether(this.database, this.model, (target) =>
        this.#tableOf(target),
      ))
      const isPage = name === 'list' && lock === undefined
      const page = isPage ? related.pageOn(call, paths, scope) : { call, kept: undefined }
      const result = await read(page.call, scope, lock, page.kept)
      await related.read(entitiesRead(name, result), paths, { at: page.call, scope, options })
      return result
    }
  }

  #tableOf(target: ResourceModel): SearchedTable {
    const { dataSource, dialect } = this.database
    const table = tableNameOf(target, dialect, dataSource)
    const { lists } = new RowStore(target, dialect, table)
    return {
      hooks: new Hooks(target, new EntitySubscribers(dataSource, target)),
      list: (call, plan, tenant) => lists.list(call, plan, tenant),
      rows: new SearchedRows(target, dialect, table, (isOwned) =>
        knownHydratorsOf(target, dialect, true, isOwned),
      ),
      managerOf: ({ on }) => (on instanceof TransactionScope ? on.manager : undefined),
    }
  }

  #withLoads<T>(
    hooks: Pick<Hooks<object>, 'loaded'>,
    name: string,
    options: ListScope | undefined,
    read: Read<T>,
  ): Read<T> {
    return async (call, scope, lock) => {
      const { on } = call
      const result = await read(call, scope, lock)
      const transaction = TransactionChain.ofHooks(surrounding(options?.context))
      const inside = scope.context.with({ transaction })
      const managerOf = () => (on instanceof TransactionScope ? on.manager : undefined)
      try {
        const loading = hooks.loaded(name, result, inside, managerOf)
        if (loading !== undefined) await loading
        return result
      } finally {
        transaction.hookCalls?.over()
      }
    }
  }

  #afterCheck<T>(work: Work<T>): Work<T> {
    return async (call, scope) => {
      await this.check.run(call.on, call)
      return work(call, scope)
    }
  }

  #named(name: string): string {
    return `${this.model.entity.name}.${name}`
  }
}

/** Around a transaction that may never begin. */
const lateCall = (call: SqlCall, late: LateTransaction): SqlCall => ({
  ...call,
  late: {
    get isNeeded() {
      return late.isNeeded
    },
    outside: { ...call, on: late.outside },
    instead: { ...call, on: late.instead },
  },
})
