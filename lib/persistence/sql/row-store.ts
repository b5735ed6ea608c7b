import { Internal } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Patched } from '../contract/batch.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Reach, Target } from '../references/row-target.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Database, Executor, Row, RunOptions, Statement } from '../engines/executor/executor.js'
import {
  MissingParent,
  type Parent,
  type PlainRows,
  plainRows,
  type ReferringRun,
  takenFirst,
} from '../references/plain-rows.js'
import type { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { References } from '../references/references.js'
import { inRange } from './preconditions.js'
import { FieldIncrement } from '../../resource/values/increment.js'
import type { Values } from '../contract/new-entity.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { padToPowerOfTwo } from '../dialects/values/pad-to-power-of-two.js'
import { toPredicate } from '../dialects/to-predicate.js'
import { RowLists } from './row-lists.js'
import { FOR_WRITE, type GetOptions, type RowPredicate, Statements } from './statements.js'
import type { Encode } from '../dialects/values/kind-sql.js'
import { credentialRowOf, encoderOf, hydratorOf, type Hydrate } from './row-codec.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { TableOf } from '../dialects/joined-rows.js'
import { tableNameOf, tableNames } from '../schema/table-name-of.js'

/** For a row that is inserted together with its event, in one statement. */
export interface WriteRun extends ReferringRun {
  readonly along?: { readonly insert: OutboxWriter['along']; readonly values: readonly unknown[] }
}

/** The rows of one resource in one dialect: entity values in, entities out, one statement each. */
export class RowStore<E extends object> {
  readonly statements: Statements
  readonly lists: RowLists<E>
  readonly #encoders: ReadonlyMap<Field, Encode | undefined>
  readonly #hydrate: Hydrate<E>
  /** What reads a live row: by its key, and by its key and tenant. */
  readonly #gets: Statement[] = []
  /** For rows with one column before the entity's. */
  protected readonly hydrateBehind: Hydrate<E>
  /** Without what a subclass does around a write. */
  readonly #plain: PlainRows<E> = plainRows(this, RowStore.prototype)

  constructor(
    readonly model: ResourceModel<E>,
    readonly dialect: Dialect,
    table?: TableName,
    readonly references?: References,
    tableOf: TableOf = tableNames(dialect),
  ) {
    this.statements = new Statements(model, dialect, table)
    this.#encoders = new Map(model.fields.map((field) => [field, encoderOf(field, dialect)]))
    this.#hydrate = hydratorOf(model, model.entityFields, dialect)
    this.hydrateBehind = hydratorOf(model, model.entityFields, dialect, 1)
    this.lists = new RowLists(model, dialect, this.statements, tableOf)
  }

  async get(on: Executor, target: Target, run: RunOptions, options?: GetOptions): Promise<E | undefined> {
    const values = this.#identity(target)
    const { where, seen, ifMatch } = target
    const isAsked = where !== undefined || seen !== undefined || ifMatch !== undefined
    const isPlain = !isAsked && options?.lock === undefined && options?.showDeleted !== true
    const statement = isPlain
      ? (this.#gets[values.length] ??= this.statements.get(this.#predicate(target, values)))
      : this.statements.get(this.#predicate(target, values), options)
    const { rows } = await on.run(statement, values, run)
    return rows[0] && this.#hydrate(rows[0])
  }

  /** The row beside its entity, for a later write that reaches it unchanged only. */
  async getSeen(on: Executor, target: Target, run: RunOptions, options?: GetOptions) {
    const values = this.#identity(target)
    const { rows } = await on.run(this.statements.get(this.#predicate(target, values), options), values, run)
    return rows[0] && { entity: this.#hydrate(rows[0]), row: rows[0] }
  }

  /** The tenants that have a row with the key, at most two. */
  async tenantsOf(on: Executor, key: string, run: RunOptions): Promise<string[]> {
    const { rows } = await on.run(this.statements.tenantsOf(), [this.encode(this.model.key, key)], run)
    return rows.map(([tenant]) => tenant as string)
  }

  /** Whether a new row is written by one statement, whatever goes along with it. Once it is so, it stays so. */
  get insertsAtOnce(): boolean {
    return this.statements.canReturn
  }

  /** @param values - one per stored field, by property. @param parents - as of {@link update}. */
  async insert(
    on: Executor,
    values: Readonly<Values>,
    run: WriteRun,
    parents?: readonly Parent[],
  ): Promise<E> {
    const { key, tenant } = this.model
    const target = {
      key: values[key.property] as string,
      tenant: tenant && (values[tenant.property] as string),
    }
    if (this.references !== undefined && parents === undefined)
      return this.references.insert(this.#plain, on, values, target.tenant, run)
    const bound = this.model.fields.map((field) => this.encode(field, values[field.property]))
    const first = parents && takenFirst(parents, this.dialect)
    if (first !== undefined) bound.unshift(...first.values)
    const { along } = run
    if (along !== undefined) bound.push(...along.values)
    const { rows } = await on.run(this.statements.insert(first?.taken, along?.insert), bound, run)
    if (rows[0] === undefined && parents !== undefined && parents.length > 0) throw new MissingParent()
    if (this.statements.canReturn) return this.#first(rows)
    return (await this.get(on, target, run)) ?? this.#first([])
  }

  /** As `insert`, of a row whose key the repository has made: no other row has it. */
  insertNew(on: Executor, values: Readonly<Values>, run: RunOptions): Promise<E> {
    return this.insert(on, values, run)
  }

  /**
   * Undefined when no live row matches, or none whose increments stay in range.
   * @param parents - rows that it refers to, which the statement takes; looked for when left out.
   */
  update(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: ReferringRun,
    parents?: readonly Parent[],
  ): Promise<E | undefined> {
    const fields = this.fieldsOf(patch)
    // Touching only, where there is neither etag nor update_time to write.
    if (fields.length === 0) return this.get(on, target, run)
    if (this.references !== undefined && parents === undefined)
      return this.references.update(this.#plain, on, target, patch, run)
    const increments: FieldIncrement[] = []
    const values = [...this.#bound(fields, patch, increments), ...this.#identity(target)]
    const first = parents && takenFirst(parents, this.dialect)
    if (first !== undefined) values.unshift(...first.values)
    const reach = increments.length === 0 ? target : inRange(target, increments, this.dialect)
    const statement = this.statements.update(fields, this.#predicate(reach, values), increments, first?.taken)
    return this.#write(on, statement, values, target, run)
  }

  /** Undefined when no deleted row matches. */
  undelete(on: Executor, target: Target, patch: Readonly<Values>, run: RunOptions): Promise<E | undefined> {
    const fields = this.fieldsOf(patch)
    const values = [...this.#bound(fields, patch), ...this.#identity(target)]
    const statement = this.statements.undelete(fields, this.#predicate(target, values))
    return this.#write(on, statement, values, target, run)
  }

  /** Whether a live row was there. */
  async delete(on: Executor, target: Target, patch: Readonly<Values>, run: RunOptions): Promise<boolean> {
    const fields = this.fieldsOf(patch)
    const values = [...this.#bound(fields, patch), ...this.#identity(target)]
    const statement = this.statements.delete(fields, this.#predicate(target, values))
    return (await on.run(statement, values, run)).affected > 0
  }

  /** Rows by key, without the missing ones; live ones where nothing is said. */
  async batchGet(
    on: Executor,
    keys: readonly string[],
    { tenant, where }: Reach,
    run: RunOptions,
    { lock, showDeleted }: GetOptions = {},
  ): Promise<E[]> {
    if (keys.length === 0) return []
    const isArray = this.dialect.can.arrays
    const padded = isArray ? [keys] : padToPowerOfTwo(keys).map((key) => this.encode(this.model.key, key))
    const values = [...tenantValues(tenant), ...padded]
    const predicate = this.#predicate({ tenant, where }, values)
    const statement = this.statements.batchGet(isArray ? 1 : padded.length, predicate, lock, showDeleted)
    const { rows } = await on.run(statement, values, run)
    return rows.map((row) => this.#hydrate(row))
  }

  /** Whether batches are one statement each: not where a key may be of several tenants. */
  canBatch(tenant: string | undefined): boolean {
    return this.dialect.can.setWrites && (tenant !== undefined || !this.model.tenantInKey)
  }

  /**
   * The updated entities in the order of the items, which is also the lock order. `undefined` where no live row has the
   * key. All items write the same fields.
   */
  async batchUpdate(
    on: Executor,
    items: readonly Pick<Patched, 'key' | 'patch'>[],
    reach: Reach,
    run: RunOptions,
  ): Promise<(E | undefined)[]> {
    const fields = this.fieldsOf(items[0]?.patch ?? {})
    if (fields.length === 0) {
      const keys = items.map(({ key }) => key)
      const found = await this.batchGet(on, keys, reach, run, { lock: FOR_WRITE })
      return keys.map((key) => found.find((one) => (one as Values)[this.model.key.property] === key))
    }
    const first = items[0]?.patch ?? {}
    const isShared = ({ property }: Field) => items.every(({ patch }) => patch[property] === first[property])
    const shared = fields.filter(isShared)
    const own = fields.filter((field) => !shared.includes(field))
    const values = [
      ...tenantValues(reach.tenant),
      items.map(({ key }) => key),
      ...own.map((field) => items.map(({ patch }) => this.encode(field, patch[field.property]))),
      ...shared.map((field) => this.encode(field, first[field.property])),
    ]
    const statement = this.statements.batchUpdate(own, shared, this.#predicate(reach, values))
    const { rows } = await on.run(statement, values, run)
    const updated = Array<E | undefined>(items.length).fill(undefined)
    for (const row of rows) updated[Number(row[0]) - 1] = this.hydrateBehind(row)
    return updated
  }

  /** How many live rows were there. */
  async batchDelete(
    on: Executor,
    keys: readonly string[],
    reach: Reach,
    patch: Readonly<Values>,
    run: RunOptions,
  ): Promise<number> {
    const fields = this.fieldsOf(patch)
    const sorted = [...keys].sort(byCodePoint)
    const values = [...tenantValues(reach.tenant), sorted, ...this.#bound(fields, patch)]
    const statement = this.statements.batchDelete(fields, this.#predicate(reach, values))
    return (await on.run(statement, values, run)).affected
  }

  /**
   * The live row with this value, including the columns that are not part of the entity. Of any tenant when none is
   * given.
   */
  async find(
    on: Executor,
    field: Field,
    value: string,
    { tenant, where }: Reach,
    run: RunOptions,
  ): Promise<CredentialRow<E>[]> {
    const values = [this.encode(field, value)]
    if (tenant !== undefined) values.push(this.encode(this.model.tenant as Field, tenant))
    const { rows } = await on.run(
      this.statements.find(field, this.#predicate({ tenant, where }, values)),
      values,
      run,
    )
    return rows.map((row) => credentialRowOf(this.model, row, this.#hydrate))
  }

  /** Removes a chunk of the expired rows. Returns how many. */
  async purge(
    on: Executor,
    before: Date,
    tenant: string | undefined,
    chunk: number,
    run: RunOptions,
  ): Promise<number> {
    const values = [this.encode(this.model.expireTime as Field, before)]
    if (tenant !== undefined) values.push(this.encode(this.model.tenant as Field, tenant))
    return (await on.run(this.statements.purge(tenant !== undefined), [...values, chunk], run)).affected
  }

  async #write(
    on: Executor,
    statement: Statement,
    values: unknown[],
    target: Target,
    run: RunOptions,
  ): Promise<E | undefined> {
    const { rows, affected } = await on.run(statement, values, run)
    if (this.statements.canReturn) return rows[0] && this.#hydrate(rows[0])
    return affected === 0 ? undefined : this.get(on, { key: target.key, tenant: target.tenant }, run)
  }

  #first(rows: readonly Row[]): E {
    if (rows[0] === undefined) throw new Internal('the database did not return a written row')
    return this.#hydrate(rows[0])
  }

  protected encode(field: Field, value: unknown): unknown {
    if (value === undefined || value === null) return null
    const encode = this.#encoders.get(field)
    return encode === undefined ? value : encode(value)
  }

  #bound(fields: readonly Field[], patch: Readonly<Values>, found?: FieldIncrement[]): unknown[] {
    const values: unknown[] = []
    for (const field of fields) {
      const value = patch[field.property]
      if (value instanceof FieldIncrement) found?.push(value)
      values.push(this.encode(field, value instanceof FieldIncrement ? value.operand : value))
    }
    return values
  }

  #identity({ key, tenant, ifMatch }: Target): unknown[] {
    const values = [this.encode(this.model.key, key)]
    if (tenant !== undefined) values.push(this.encode(this.model.tenant as Field, tenant))
    if (ifMatch !== undefined) values.push(this.encode(this.model.etag as Field, ifMatch))
    return values
  }

  /** @param values - those of the statement so far; the condition's own are appended. */
  #predicate({ tenant, ifMatch, where, seen }: Reach & Partial<Target>, values: unknown[]): RowPredicate {
    const predicate = { tenant: tenant !== undefined, etag: ifMatch !== undefined }
    const also = where && { where: toPredicate(where, this.dialect, values) }
    if (seen !== undefined) return { ...predicate, ...also, isUnchanged: values.push(...seen) > 0 }
    return also === undefined ? predicate : { ...predicate, ...also }
  }

  protected fieldsOf(patch: Readonly<Values>): Field[] {
    const fields: Field[] = []
    for (const field of this.model.fields) if (Object.hasOwn(patch, field.property)) fields.push(field)
    return fields
  }
}

const tenantValues = (tenant: string | undefined): string[] => (tenant === undefined ? [] : [tenant])

/** The references that a resource of a database holds; undefined where it refers to nothing. */
export const referencesOf = (
  model: ResourceModel,
  { dialect, dataSource }: Pick<Database, 'dialect' | 'dataSource'>,
): References | undefined =>
  References.of(model, dialect, dataSource, (target) => {
    const rows = new RowStore(target, dialect, tableNameOf(target, dialect, dataSource))
    return (...operands) => rows.get(...operands)
  })
