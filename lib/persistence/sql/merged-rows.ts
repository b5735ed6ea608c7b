import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Executor, Row, RunOptions } from '../engines/executor/executor.js'
import { type Merge, type MergeOptions, mergeOf } from '../merging/merge.js'
import { MergedRead, type Sought } from '../merging/merged-read.js'
import { mergedRead } from '../merging/read-statement.js'
import { TableRules } from '../merging/table-rules.js'
import { isStorable } from '../query/reachable.js'
import type { Reach, Target } from '../references/row-target.js'
import { credentialRowOf } from './row-codec.js'
import { EmittingRows, type RowStoreParts } from './emitting-rows.js'
import { RowStore } from './row-store.js'
import type { GetOptions } from './statements.js'

/** The rows of a repository without hooks. @throws TypeError for an unknown `merge`. */
export function mergedRows<E extends object>(
  database: Database,
  model: ResourceModel<E>,
  parts: RowStoreParts,
  options: MergeOptions,
): RowStore<E> {
  const merge = mergeOf(database.dataSource, options)
  const isShown = ({ entityFields, key, tenant }: ResourceModel) =>
    [key, tenant].every((field) => field === undefined || entityFields.includes(field))
  if (merge !== 'off' && database.dialect.rowRules !== undefined && isShown(model))
    return new MergedRows(database, model, parts, merge)
  const { dialect, table, references, tableOf } = parts
  return model.events === undefined
    ? new RowStore(model, dialect, table, references, tableOf)
    : new EmittingRows(model, parts)
}

/**
 * Reads of single rows that share a statement with others, while many are in flight. Only outside of transactions, with the
 * tenant known, without a lock and without a further condition.
 */
class MergedRows<E extends object> extends EmittingRows<E> {
  private readonly table: TableName
  readonly #rules: TableRules
  readonly #gets: MergedRead<E>
  readonly #finds = new Map<string, MergedRead<CredentialRow<E>>>()

  constructor(
    private readonly database: Database,
    model: ResourceModel<E>,
    parts: RowStoreParts,
    merge: Exclude<Merge, 'off'>,
  ) {
    super(model, parts)
    this.table = parts.table
    if (model.events === undefined) writePlainly(this)
    this.#rules = new TableRules(database, parts.table, merge)
    this.#gets = this.#mergedGet()
  }

  override get(on: Executor, target: Target, run: RunOptions, options?: GetOptions): Promise<E | undefined> {
    const { where, ifMatch, seen } = target
    const isPlain = where === undefined && ifMatch === undefined && seen === undefined
    const isLive = options?.lock === undefined && options?.showDeleted !== true
    if (on !== this.database || !isPlain || !isLive || !this.#isOfTenant(target))
      return super.get(on, target, run, options)
    return this.#gets.run({ value: target.key, tenant: target.tenant }, run)
  }

  override async find(
    on: Executor,
    field: Field,
    value: string,
    reach: Reach,
    run: RunOptions,
  ): Promise<CredentialRow<E>[]> {
    const { tenant, where } = reach
    const isOfTenant = this.#isOfTenant(reach) || this.#isOfAnyTenant(field)
    if (on !== this.database || where !== undefined || !isOfTenant || !isStorable(value))
      return super.find(on, field, value, reach, run)
    const row = await this.#findsBy(field, tenant !== undefined).run({ value, tenant }, run)
    return row === undefined ? [] : [row]
  }

  #isOfTenant({ tenant }: Reach): boolean {
    return (tenant === undefined) === (this.model.tenant === undefined)
  }

  /** Who verifies a credential learns its tenant from the row. The public id is unique over all of them. */
  #isOfAnyTenant(field: Field): boolean {
    return this.model.credentials.some(({ publicId }) => publicId === field)
  }

  #mergedGet(): MergedRead<E> {
    const { model, dialect } = this
    const { key, tenant } = model
    const shape = { by: key, tenant, selected: model.entityFields, isFirst: false }
    const read = {
      name: `${model.entity.name}.get`,
      alone: ({ value, tenant }: Sought, run: RunOptions) =>
        super.get(this.database, { key: value, tenant }, run),
      statement: mergedRead(model, dialect, this.table, shape),
      soughtIn: (entity: E) => soughtIn(entity as Values, key, tenant),
      read: this.hydrateBehind,
    }
    return new MergedRead(this.database, read, this.#rules)
  }

  /** @param isOfTenant - whether only the rows of the caller's tenant are searched. */
  #findsBy(by: Field, isOfTenant: boolean): MergedRead<CredentialRow<E>> {
    const name = `${by.property} ${isOfTenant}`
    const known = this.#finds.get(name)
    if (known !== undefined) return known
    const { model, dialect } = this
    const tenant = isOfTenant ? model.tenant : undefined
    const hydrate = (row: Row) => this.hydrateBehind([undefined, ...row])
    const shape = { by, tenant, selected: model.fields, isFirst: true }
    const read = {
      name: `${model.entity.name} by ${by.property}`,
      alone: async ({ value, tenant }: Sought, run: RunOptions) =>
        (await super.find(this.database, by, value, { tenant }, run))[0],
      statement: mergedRead(model, dialect, this.table, shape),
      soughtIn: ({ columns }: CredentialRow<E>) => soughtIn(columns, by, tenant),
      read: (row: Row) => credentialRowOf(model, row.slice(1), hydrate),
    }
    const merged = new MergedRead(this.database, read, this.#rules)
    this.#finds.set(name, merged)
    return merged
  }
}

const soughtIn = (values: Readonly<Values>, by: Field, tenant: Field | undefined): Sought => ({
  value: values[by.property] as string,
  tenant: tenant && (values[tenant.property] as string),
})

const WRITES = ['insert', 'update', 'delete', 'undelete', 'batchUpdate', 'batchDelete'] as const

/** Nothing stands before the writes of what is not told. */
function writePlainly(rows: object): void {
  for (const name of WRITES)
    Object.defineProperty(rows, name, Object.getOwnPropertyDescriptor(RowStore.prototype, name) ?? {})
}
