import { BoundedCache } from '../../bounded-cache.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import type { Database, Executor, Row, RunOptions, Statement } from '../engines/executor/executor.js'
import { type MergeOptions, mergeOf } from '../merging/merge.js'
import { type Mergeable, MergedReads, MergedWrites, type Sought } from '../merging/merged-calls.js'
import type { MergingSql } from '../dialects/values/merging-sql.js'
import { MergedStatements } from '../merging/merged-statements.js'
import { TableRules } from '../merging/table-rules.js'
import type { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { isStorable } from '../query/reachable.js'
import type { Reach, Target } from '../references/row-target.js'
import { credentialRowOf } from './row-codec.js'
import type { Hooks } from '../hooks/call-hooks.js'
import { EmittingRows, type EmittingRun, type RowStoreParts } from './emitting-rows.js'
import { HookedRows } from './hooked-rows.js'
import { RowStore, type WriteRun } from './row-store.js'
import { incrementsIn } from '../../resource/values/increment.js'
import type { GetOptions } from './statements.js'

/** The rows of a repository. @throws TypeError for an unknown `merge`. */
export function mergedRows<E extends object>(
  database: Database,
  model: ResourceModel<E>,
  hooks: Hooks<E>,
  parts: RowStoreParts,
  options: MergeOptions,
): RowStore<E> {
  const merge = mergeOf(database.dataSource, options)
  const isShown = ({ entityFields, key, tenant }: ResourceModel) =>
    [key, tenant].every((field) => field === undefined || entityFields.includes(field))
  const { dialect, table, references, tableOf } = parts
  const { merging } = dialect
  const rules = merging && new TableRules(database, model, table, merge === 'off' ? 'tenant' : merge)
  if (merge !== 'off' && merging !== undefined && rules !== undefined && isShown(model))
    return new MergedRows(database, merging, model, hooks, { ...parts, rules })
  if (!hooks.isSilent) return new HookedRows(model, hooks, { ...parts, rules })
  return model.events === undefined
    ? new RowStore(model, dialect, table, references, tableOf)
    : new EmittingRows(model, { ...parts, rules })
}

/** Sets of columns that are written, each with a queue of its own. Callers choose them by their masks. */
const MOST_MASKS = 100

/** A row that is to be changed. */
interface Changed extends Sought {
  readonly target: Target
  readonly patch: Readonly<Values>
}

/** A row that is to be inserted. */
interface Inserted extends Sought {
  readonly values: Readonly<Values>
  /** The event that goes along. */
  readonly along: WriteRun['along']
}

/**
 * Reads and writes of single rows that share a statement with others, while many are in flight. Only outside of transactions, with
 * the tenant known, without a lock and without a further condition. Hooks and events before and after a write make a
 * transaction of it.
 */
class MergedRows<E extends object> extends HookedRows<E> {
  /** Writes that share nothing. */
  readonly #below: Pick<RowStore<E>, 'update' | 'delete'>
  readonly #rules: TableRules
  readonly #outbox: OutboxWriter
  readonly #statements: MergedStatements
  readonly #gets: MergedReads<E>
  readonly #finds = new Map<string, MergedReads<CredentialRow<E>>>()
  readonly #inserts: MergedWrites<Inserted, E>
  readonly #updates = new BoundedCache<string, MergedWrites<Changed, E>>(MOST_MASKS, 'merged_updates')
  #deletes: MergedWrites<Changed, Sought> | undefined

  constructor(
    private readonly database: Database,
    private readonly merging: MergingSql,
    model: ResourceModel<E>,
    hooks: Hooks<E>,
    parts: RowStoreParts & { readonly rules: TableRules },
  ) {
    super(model, hooks, parts)
    const isTold = model.events !== undefined || !hooks.isSilent
    this.#below = isTold ? HookedRows.prototype : RowStore.prototype
    if (!isTold) writePlainly(this)
    const { rules } = parts
    this.#rules = rules
    this.#outbox = parts.outbox
    const typeOf = (field: Field) => rules.typeOf(field)
    this.#statements = new MergedStatements(model, parts.dialect, merging, parts.table, typeOf)
    this.#gets = this.#mergedGet()
    this.#inserts = this.#mergedInsert()
  }

  override get(on: Executor, target: Target, run: RunOptions, options?: GetOptions): Promise<E | undefined> {
    const isLive = options?.lock === undefined && options?.showDeleted !== true
    if (on !== this.database || target.ifMatch !== undefined || !isLive || !this.#isPlain(target))
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
    const isOfTenant =
      (tenant === undefined) === (this.model.tenant === undefined) || this.#isOfAnyTenant(field)
    if (on !== this.database || where !== undefined || !isOfTenant || !isStorable(value))
      return super.find(on, field, value, reach, run)
    const row = await this.#findsBy(field, tenant !== undefined).run({ value, tenant }, run)
    return row === undefined ? [] : [row]
  }

  override async insertNew(on: Executor, values: Readonly<Values>, run: EmittingRun): Promise<E> {
    if (!this.#mergesWrites(on) || this.references !== undefined) return this.insert(on, values, run)
    const { key, tenant } = this.model
    const along = this.tellsCreated ? this.runAlong(values, run).along : undefined
    const inserted = await this.#inserts.run({ ...soughtIn(values, key, tenant), values, along }, run)
    return inserted as E
  }

  override update(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: RunOptions,
  ): Promise<E | undefined> {
    const written = this.#mergesWrites(on) && this.#isPlain(target) ? this.fieldsOf(patch) : []
    const refers = this.references?.arePatched([patch]) === true
    if (written.length === 0 || refers || incrementsIn(patch).length > 0)
      return this.#below.update.call(this, on, target, patch, run)
    return this.#updatesOf(written).run({ value: target.key, tenant: target.tenant, target, patch }, run)
  }

  override async delete(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: RunOptions,
  ): Promise<boolean> {
    if (!this.#mergesWrites(on) || this.model.deleteTime === undefined || !this.#isPlain(target))
      return this.#below.delete.call(this, on, target, patch, run)
    this.#deletes ??= this.#mergedDelete(this.fieldsOf(patch))
    const { key: value, tenant } = target
    return (await this.#deletes.run({ value, tenant, target, patch }, run)) !== undefined
  }

  #mergesWrites(on: Executor): boolean {
    return on === this.database && this.dialect.can.setWrites
  }

  #isPlain({ where, seen, tenant }: Target): boolean {
    const isOfTenant = (tenant === undefined) === (this.model.tenant === undefined)
    return where === undefined && seen === undefined && isOfTenant
  }

  /** Who verifies a credential learns its tenant from the row. The public id is unique over all of them. */
  #isOfAnyTenant(field: Field): boolean {
    return this.model.credentials.some(({ publicId }) => publicId === field)
  }

  get #identity(): readonly Field[] {
    const { key, tenant } = this.model
    return tenant === undefined ? [key] : [key, tenant]
  }

  #mergedGet(): MergedReads<E> {
    const { key, tenant, entityFields, entity } = this.model
    const shape = { by: key, tenant, selected: entityFields, isFirst: false }
    return new MergedReads(this.database, {
      name: `${entity.name}.get`,
      alone: ({ value, tenant }, run) => super.get(this.database, { key: value, tenant }, run),
      ...this.#shared(
        () => this.#rules.mayRead(this.#identity),
        () => this.#statements.read(shape),
      ),
      valuesOf: soughtValues,
      soughtIn: (entity) => soughtIn(entity as Values, key, tenant),
      read: this.hydrateBehind,
    })
  }

  /** @param isOfTenant - whether only the rows of the caller's tenant are searched. */
  #findsBy(by: Field, isOfTenant: boolean): MergedReads<CredentialRow<E>> {
    const name = `${by.property} ${isOfTenant}`
    const known = this.#finds.get(name)
    if (known !== undefined) return known
    const { model } = this
    const tenant = isOfTenant ? model.tenant : undefined
    const hydrate = (row: Row) => this.hydrateBehind([undefined, ...row])
    const shape = { by, tenant, selected: model.fields, isFirst: true }
    const merged = new MergedReads<CredentialRow<E>>(this.database, {
      name: `${model.entity.name} by ${by.property}`,
      alone: async ({ value, tenant }, run) =>
        (await super.find(this.database, by, value, { tenant }, run))[0],
      ...this.#shared(
        () => this.#rules.mayRead(tenant === undefined ? [by] : [by, tenant]),
        () => this.#statements.read(shape),
      ),
      valuesOf: soughtValues,
      soughtIn: ({ columns }) => soughtIn(columns, by, tenant),
      read: (row) => credentialRowOf(model, row.slice(1), hydrate),
    })
    this.#finds.set(name, merged)
    return merged
  }

  #mergedInsert(): MergedWrites<Inserted, E> {
    const { entity, entityFields, fields, key, tenant } = this.model
    return new MergedWrites(this.database, {
      name: `${entity.name}.create`,
      alone: ({ values, along }, run) => {
        const once: WriteRun = along === undefined ? run : { ...run, along }
        return RowStore.prototype.insert.call(this, this.database, values, once) as Promise<E>
      },
      ...this.#shared(
        () => this.#rules.mayInsert(fields),
        () =>
          this.#statements.insert(fields, entityFields, this.tellsCreated ? this.#outbox.along : undefined),
      ),
      valuesOf: ({ values, along }) => [
        ...fields.map((field) => this.encode(field, values[field.property])),
        ...(along?.values ?? []),
      ],
      soughtIn: (inserted) => soughtIn(inserted as Values, key, tenant),
      read: this.hydrateBehind,
    })
  }

  #updatesOf(written: readonly Field[]): MergedWrites<Changed, E> {
    return this.#updates.getOrSet(written.map(({ column }) => column).join('\0'), () => {
      const { entity, entityFields, key, tenant } = this.model
      return new MergedWrites<Changed, E>(this.database, {
        name: `${entity.name}.update`,
        alone: async ({ target, patch }, run) =>
          RowStore.prototype.update.call(this, this.database, target, patch, run) as Promise<E | undefined>,
        ...this.#shared(
          () => this.#rules.mayUpdate(written),
          () => this.#statements.update(written, entityFields),
        ),
        valuesOf: (changed) => this.#changeOf(changed, written),
        soughtIn: (updated) => soughtIn(updated as Values, key, tenant),
        read: this.hydrateBehind,
      })
    })
  }

  #mergedDelete(written: readonly Field[]): MergedWrites<Changed, Sought> {
    const { entity, tenant } = this.model
    return new MergedWrites<Changed, Sought>(this.database, {
      name: `${entity.name}.delete`,
      alone: async (changed, run) => {
        const { target, patch } = changed
        const isDeleted = await RowStore.prototype.delete.call(this, this.database, target, patch, run)
        return isDeleted ? changed : undefined
      },
      ...this.#shared(
        () => this.#rules.maySoftDelete(written),
        () => this.#statements.update(written, this.#identity),
      ),
      valuesOf: (changed) => this.#changeOf(changed, written),
      soughtIn: (sought) => sought,
      read: ([, value, owner]) => ({
        value: value as string,
        tenant: tenant === undefined ? undefined : (owner as string),
      }),
    })
  }

  /** Where the calls of an operation may share a statement, and with which one: known when the rules of the table are. */
  #shared(
    may: () => boolean,
    make: () => Statement,
  ): Pick<Mergeable<never, never>, 'groupOf' | 'statement' | 'bound'> {
    const { bound } = this.merging
    let isAllowed: boolean | undefined
    let statement: Statement | undefined
    return {
      bound,
      groupOf: (tenant) => {
        const group = this.#rules.groupOf(tenant)
        return group !== undefined && (isAllowed ??= may()) ? group : undefined
      },
      statement: () => (statement ??= make()),
    }
  }

  #changeOf({ target, patch }: Changed, written: readonly Field[]): readonly unknown[] {
    const { key, tenant, ifMatch } = target
    const values: unknown[] = tenant === undefined ? [key] : [key, tenant]
    if (this.model.etag !== undefined) values.push(ifMatch ?? null)
    return [...values, ...written.map((field) => this.encode(field, patch[field.property]))]
  }
}

const soughtValues = ({ value, tenant }: Sought): readonly string[] =>
  tenant === undefined ? [value] : [value, tenant]

const soughtIn = (values: Readonly<Values>, by: Field, tenant: Field | undefined): Sought => ({
  value: values[by.property] as string,
  tenant: tenant && (values[tenant.property] as string),
})

const WRITES = ['insert', 'undelete', 'batchUpdate', 'batchDelete'] as const

/** Nothing stands before writes that neither hooks nor events follow. */
function writePlainly(rows: object): void {
  for (const name of WRITES)
    Object.defineProperty(rows, name, Object.getOwnPropertyDescriptor(RowStore.prototype, name) ?? {})
}
