import type { RequestContext } from '../../context.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CountPlan, ListPlan } from '../contract/list-plan.js'
import type { TransactionOptions } from '../contract/repository.js'
import type { FamilyRows } from '../deletion/rules/family-writer.js'
import { Hooks } from '../hooks/call-hooks.js'
import { HookedRows } from '../hooks/hooked-rows.js'
import { RelatedRows } from '../relations/related-rows.js'
import type { PageOptions, Relations, RowsBackend } from '../repository/rows-backend.js'
import type { PurgeChunk } from '../repository/purge-expired.js'
import type { WrittenResource } from '../rows/row-writer.js'
import type { Rows } from '../rows/rows.js'
import { MemoryCipherRows } from './memory-cipher-rows.js'
import type { MemoryCall, MemoryDatabase } from './memory-database.js'
import { MemoryOperations } from './memory-operations.js'
import { MemoryReferences } from './memory-references.js'
import { MemoryRowStore } from './memory-row-store.js'
import { MemoryStoredRows } from './memory-stored-rows.js'
import { MemoryTable } from './memory-table.js'
import { pageOf } from './page-of.js'
import { rowsBeside } from './rows-beside.js'
import { rowsOf } from './filtered-rows.js'

/** Stores the rows of one resource in memory. */
export class MemoryBackend<E extends object> implements RowsBackend<E, MemoryCall, RequestContext> {
  readonly operations: MemoryOperations
  readonly rows: Rows<E, MemoryCall>
  readonly resource: WrittenResource<MemoryCall>
  readonly relations: Relations<MemoryCall>
  readonly hooks: Hooks<E>
  readonly family: FamilyRows<MemoryCall>
  readonly #table: MemoryTable<E>
  readonly #store: MemoryRowStore<E>

  constructor(
    model: ResourceModel<E>,
    readonly database: MemoryDatabase,
  ) {
    const references = MemoryReferences.of(model, database)
    const table = new MemoryTable(model, database.outbox)
    const store = new MemoryRowStore(model, table, references)
    this.#table = table
    this.#store = store
    this.hooks = new Hooks(model)
    this.rows = this.hooks.isSilent ? store : new HookedRows(store, this.hooks)
    this.resource = {
      model,
      rangeOf: () => undefined,
      refers: references !== undefined,
      tenantsOf: (call, key) => store.tenantsOf(call, key),
    }
    this.operations = new MemoryOperations(database, model, this.hooks, references)
    const related = new RelatedRows<MemoryCall>(model, (target) => ({
      hooks: new Hooks(target),
      list: ({ read }, plan, tenant) => {
        const { table: other } = database.resourceOf(target)
        return read(pageOf(target, rowsBeside(other, database), plan, { tenant }))
      },
    }))
    this.relations = {
      pageOn: (call) => ({ call, kept: undefined }),
      read: (entities, paths, reading) => related.read(entities, paths, reading),
    }
    this.family = {
      rows: (call, sources) =>
        new MemoryStoredRows((member) => database.resourceOf(member.model), call, sources),
      surround: (member, operation) => database.resourceOf(member.model).hooks.surround(operation),
      snapshot: undefined,
    }
    database.add(model, { table, rows: this.rows, hooks: this.hooks })
  }

  get finds() {
    return this.#store
  }

  get ciphers() {
    return new MemoryCipherRows(this.resource.model, this.#table)
  }

  memberOf() {
    return this.database.family.get(this.resource.model)
  }

  list({ read }: MemoryCall, plan: ListPlan, tenant: string | undefined, { maxBytes }: PageOptions) {
    return read(pageOf(this.hooks.model, rowsBeside(this.#table, this.database), plan, { tenant }, maxBytes))
  }

  async count({ read }: MemoryCall, plan: CountPlan, tenant: string | undefined): Promise<number> {
    const beside = rowsBeside(this.#table, this.database)
    const rows = await read(rowsOf(this.hooks.model, beside, plan, { tenant }))
    return Math.min(rows.length, plan.limit ?? Number.POSITIVE_INFINITY)
  }

  readonly purge: PurgeChunk<MemoryCall> = (...operands) => this.#store.purge(...operands)

  isTaken({ property }: Field, value: string): Promise<boolean> {
    return Promise.resolve(this.#table.filter((row) => row[property] === value).length > 0)
  }

  /** Returns undefined, because all stored credentials were minted by the repository's own minter. */
  specsOf(): undefined {
    return undefined
  }

  readonly managerOf = () => undefined

  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return this.database.transaction(fn, options)
  }
}
