import type { DataSource } from 'typeorm'
import type { RequestContext } from '../../context.js'
import type { Field } from '../../resource/fields/field.js'
import type { CredentialField, ResourceModel } from '../../resource/resource-model.js'
import type { CountPlan, ListPlan } from '../contract/list-plan.js'
import type { TransactionOptions } from '../contract/repository.js'
import { membersOf } from '../deletion/sql/members-of.js'
import { SqlFamily } from '../deletion/sql/sql-family.js'
import { executorOf } from '../engines/executor-of.js'
import type { Database } from '../engines/executor/executor.js'
import { Hooks } from '../hooks/call-hooks.js'
import { type CoalesceOptions, coalesceOf } from '../coalescing/coalesce.js'
import { RowsTogether, type SearchedTable } from '../relations/rows-together.js'
import { SearchedRows } from '../relations/searched-rows.js'
import type { PageOptions, RowsBackend, WriteWhere } from '../repository/rows-backend.js'
import type { PurgeChunk } from '../repository/purge-expired.js'
import type { CredentialTenants } from '../rows/credential-tenants.js'
import type { SqlCall } from '../rows/row-call.js'
import type { WrittenResource } from '../rows/row-writer.js'
import type { Finds, Rows } from '../rows/rows.js'
import { IndexErrors } from '../schema/index-errors.js'
import { tableNameOf } from '../schema/table-name-of.js'
import { EntitySubscribers } from '../typeorm/subscribers.js'
import { DataSourceCheck } from '../start-up/data-source-check.js'
import { knownHydratorsOf } from './row-codec.js'
import { RowStore } from './row-store.js'
import { familyRowsOf, rowsOf } from './rows-of.js'
import { SqlCipherRows } from './sql-cipher-rows.js'
import { SqlOperations } from './sql-operations.js'
import type { TransactionContext } from './transaction-context.js'
import { TransactionScope } from './transaction-scope.js'
import { current, transaction } from './transaction.js'
import type { SuppressingTriggers } from './trigger-guard.js'

/** Stores the rows of one resource in the database of a DataSource. */
export class SqlBackend<E extends object> implements RowsBackend<E, SqlCall, TransactionContext> {
  readonly database: Database
  readonly check: DataSourceCheck
  readonly operations: SqlOperations
  readonly rows: Rows<E>
  readonly finds: Finds<E>
  readonly hooks: Hooks<E>
  readonly resource: WrittenResource<SqlCall>
  readonly relations: RowsTogether
  readonly family: SqlFamily
  readonly #store: RowStore<E>
  readonly #tenants: CredentialTenants | undefined
  readonly #triggers: SuppressingTriggers
  readonly #indexes: IndexErrors

  constructor(dataSource: DataSource, model: ResourceModel<E>, options: CoalesceOptions) {
    const database = executorOf(dataSource)
    const { dialect } = database
    this.database = database
    this.check = new DataSourceCheck(database, model)
    const { rows, store, finds, references, tenants, triggers, hooks } = rowsOf(
      database,
      model,
      coalesceOf(dataSource, options),
    )
    this.rows = rows
    this.#store = store
    this.#tenants = tenants
    this.#triggers = triggers
    this.finds = finds
    this.hooks = hooks
    this.resource = {
      model,
      rangeOf: ({ kind }) => dialect.values.kinds[kind].range,
      holdsUnread: (field) =>
        field.json?.shape !== undefined ||
        dialect.values.kinds[field.kind].readable?.(field.column, field) !== undefined,
      refers: references !== undefined,
      tenantsOf: (call, key) => store.tenantsOf(call, key),
    }
    this.#indexes = new IndexErrors(model, dialect, this.check.table)
    this.operations = new SqlOperations(database, {
      model,
      check: this.check,
      canReturn: store.statements.canReturn,
      indexes: this.#indexes,
      hooks,
      references,
      triggers,
    })
    this.relations = new RowsTogether(database, model, (target) => this.#tableOf(target))
    this.family = new SqlFamily({
      database,
      tableOf: (member) => tableNameOf(member.model, dialect, dataSource),
      rowsOf: familyRowsOf(database),
    })
  }

  get ciphers() {
    return new SqlCipherRows(this.#store.statements)
  }

  /** Returns the resource's relations, once the DataSource is initialized. */
  memberOf() {
    const { dataSource } = this.database
    return dataSource.isInitialized ? membersOf(dataSource).get(this.resource.model) : undefined
  }

  list(call: SqlCall, plan: ListPlan, tenant: string | undefined, how: PageOptions) {
    return this.#store.lists.list(call, plan, tenant, how)
  }

  count(call: SqlCall, plan: CountPlan, tenant: string | undefined) {
    return this.#store.lists.count(call, plan, tenant)
  }

  readonly purge: PurgeChunk<SqlCall> = (...operands) => this.#store.purge(...operands)

  get expiredTenants(): RowsBackend<E, SqlCall, TransactionContext>['expiredTenants'] {
    if (this.resource.model.tenant === undefined || this.database.isDistributed === false) return undefined
    return async (call, before) =>
      call.on.isDistributed === true ? this.#store.expiredTenants(call, before) : undefined
  }

  readonly writeWhere: WriteWhere<SqlCall> = async (call, ...operands) => {
    const isGuarded = this.#triggers.known ?? (await this.#triggers.read(call))
    return isGuarded ? undefined : this.#store.writeWhere(call, ...operands)
  }

  async isTaken({ column }: Field, value: string, given: RequestContext | undefined): Promise<boolean> {
    const on = current(this.database, given)
    if (on.isDistributed === true && this.#tenants !== undefined)
      return (await this.#tenants.tenantOf(on, value)) !== undefined
    return (await on.run(this.#store.statements.has(column), [value])).rows.length > 0
  }

  specsOf({ on }: SqlCall, credential: CredentialField) {
    return on === this.database ? this.#store.lists.specsOf(credential, on) : undefined
  }

  readonly managerOf = ({ on }: SqlCall) => (on instanceof TransactionScope ? on.manager : undefined)

  transaction<R>(fn: (context: TransactionContext) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return transaction(this.database, fn, options, this.#indexes)
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
      managerOf: this.managerOf,
    }
  }
}
