import { Internal } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CredentialRow } from '../contract/credential-check.js'
import { isUuid, otherFormatsOf } from '../../resource/kinds/uuid.js'
import { keyConflict, type Reach } from '../contract/scope.js'
import { TooManyBytes } from '../bytes/too-many-bytes.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Row, Statement } from '../engines/executor/executor.js'
import { outboxValues, type OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { inRange } from '../rows/misses.js'
import { MissingParent, takenFirst } from '../rows/parents.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Target } from '../rows/row-target.js'
import { NotInserted } from '../rows/suppressed-writes.js'
import {
  type Batches,
  type Finds,
  FOR_WRITE,
  type GetOptions,
  type RowPatch,
  type Rows,
  type RowWrite,
} from '../rows/rows.js'
import { FieldIncrement } from '../../resource/values/increment.js'
import { KeptUnread } from '../../resource/values/kept-unread.js'
import { missing, type Values } from '../contract/new-entity.js'
import { isNullError } from '../engines/errors/constraint-error.js'
import { padToPowerOfTwo } from '../dialects/values/pad-to-power-of-two.js'
import { toPredicate } from '../dialects/to-predicate.js'
import { and } from '../query/query-plan.js'
import { readWithin } from '../bytes/read-within.js'
import { RowLists } from './row-lists.js'
import type { RowPredicate } from './statements/row-predicate.js'
import { inserted, withoutKey } from './statements/insert-text.js'
import { mayMintTooMuch } from './statements/last-generated.js'
import { Statements } from './statements/statements.js'
import { type Encode, encoderOf } from '../dialects/values/kind-sql.js'
import { type PartSql, partSql } from '../dialects/values/part-sql.js'
import { credentialRowOf, hydratorOf, type Hydrate } from './row-codec.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { TableOf } from '../dialects/joined-rows.js'
import { tableNames } from '../schema/table-name-of.js'

/**
 * Stores the rows of one resource in a database. Converts entity values to rows and back, with one statement
 * per call.
 */
export class RowStore<E extends object> implements Rows<E>, Batches<E>, Finds<E> {
  readonly statements: Statements
  readonly lists: RowLists<E>
  readonly #encoders: ReadonlyMap<Field, Encode | undefined>
  readonly #hydrate: Hydrate<E>
  /** Binds and reads keys. */
  readonly key: PartSql
  /** Binds and reads tenants. Only used if the resource has a tenant. */
  readonly tenant: PartSql
  /** The statements that read a live row by key, and by key and tenant. */
  readonly #gets: Statement[] = []
  readonly #inserted: readonly Field[]
  readonly #withoutKey: readonly Field[]
  /**
   * True if the database may generate a number that exceeds the key's range. The insert must then be rolled
   * back.
   */
  readonly #mayMintTooMuch: boolean
  /** Converts rows with one additional column at the beginning. */
  readonly hydrateBehind: Hydrate<E>

  /**
   * @param outbox - inserts the events of new rows.
   */
  constructor(
    readonly model: ResourceModel<E>,
    readonly dialect: Dialect,
    table?: TableName,
    tableOf: TableOf = tableNames(dialect),
    private readonly outbox?: OutboxWriter,
  ) {
    this.statements = new Statements(model, dialect, table)
    this.#encoders = new Map(model.fields.map((field) => [field, encoderOf(field, dialect)]))
    this.key = partSql(model.key, dialect)
    this.tenant = model.tenant === undefined ? this.key : partSql(model.tenant, dialect)
    this.#inserted = inserted(model)
    this.#withoutKey = withoutKey(model)
    this.#mayMintTooMuch = mayMintTooMuch(model, dialect)
    this.#hydrate = hydratorOf(model, model.entityFields, dialect)
    this.hydrateBehind = hydratorOf(model, model.entityFields, dialect, 1)
    this.lists = new RowLists(model, dialect, this.statements, tableOf)
  }

  get insertsAtOnce(): boolean {
    return this.statements.canReturn && !this.#mayMintTooMuch
  }

  /**
   * Returns undefined if several tenants may have a key, or if values that the table changes must be read
   * back.
   */
  batches(tenant: string | undefined): Batches<E> | undefined {
    const { tenantInKey, isChangedByTable } = this.model
    const isOne = tenant !== undefined || !tenantInKey
    return this.dialect.can.setWrites && isOne && !isChangedByTable ? this : undefined
  }

  async get(call: SqlCall, row: Target, how?: GetOptions): Promise<E | undefined> {
    const values = this.#identity(row)
    const { where, precondition } = row
    const isAsked = where !== undefined || precondition !== undefined
    const isPlain = !isAsked && how?.lock === undefined && how?.showDeleted !== true
    const statement = isPlain
      ? (this.#gets[values.length] ??= this.statements.get(this.#predicate(row, values)))
      : this.statements.get(this.#predicate(row, values), how)
    const { rows } = await call.on.run(statement, values, call)
    return rows[0] && this.#hydrate(rows[0])
  }

  /** Returns the tenants that have a row with the key, at most two. */
  async tenantsOf(call: SqlCall, key: string): Promise<string[]> {
    const { rows } = await call.on.run(this.statements.tenantsOf(), [this.key.bind(key)], call)
    return rows.map(([tenant]) => this.tenant.read(tenant))
  }

  async insert(call: SqlCall, { row, values, parents, event, isKeyMade }: RowWrite): Promise<E> {
    if (isKeyMade !== true) await this.#checkFormats(call, row)
    const isIdentity = this.model.key.isIdentity === true
    const all = isIdentity ? this.#withoutKey : this.#inserted
    const fields = this.model.isFilledByTable ? all.filter((field) => !isLeftOut(field, values)) : all
    const bound = fields.map((field) => this.encode(field, values[field.property]))
    const first = parents && takenFirst(parents, this.dialect)
    if (first !== undefined) bound.unshift(...first.values)
    if (event !== undefined) bound.push(...outboxValues(event))
    const statement = this.statements.insert(fields, first?.taken, event && this.outbox?.along)
    const { rows } = await call.on.run(statement, bound, call)
    if (rows[0] === undefined && parents !== undefined && parents.length > 0) throw new MissingParent()
    if (isIdentity && !this.dialect.can.returning)
      return this.#checked(this.#first(await this.#generated(call, row)))
    if (isIdentity && this.#mayMintTooMuch) this.#checked(this.#first(rows))
    if (this.statements.canReturn) return this.#first(rows)
    const key = this.model.keys.textOf(isIdentity ? this.#first(rows) : values)
    return (await this.get(call, { ...row, key })) ?? this.#first([])
  }

  /**
   * Checks for a row that has the key in another format.
   *
   * @throws ErrConflict if a row has the key in another format, which no unique index detects.
   */
  async #checkFormats(call: SqlCall, { key, tenant }: Target): Promise<void> {
    const { model, dialect } = this
    const isShared = model.existing || model.strategy !== undefined
    const isText = dialect.values.kinds[model.key.kind].isText && model.key.stored === undefined
    if (!isShared || !isText || !isUuid(key)) return
    const formats = otherFormatsOf(key)
    const isOfTenant = model.tenantInKey && tenant !== undefined
    const values = [...this.#whose(isOfTenant ? tenant : undefined), ...formats]
    const { rows } = await call.on.run(this.statements.hasKey(formats.length, isOfTenant), values, call)
    if (rows.length > 0) throw keyConflict(model)
  }

  /**
   * Checks the generated key of a new entity, and returns the entity.
   *
   * @throws Internal if the generated numbers exceed the key's range. This rolls back the insert.
   */
  #checked(made: E): E {
    const { key, keys } = this.model
    if (this.#mayMintTooMuch && !keys.isKey(keys.textOf(made)))
      throw new Internal(new RangeError(`${key.column} has no number left`))
    return made
  }

  /** Returns the row for which the connection last generated a key. */
  async #generated(call: SqlCall, { tenant }: Target): Promise<readonly Row[]> {
    const statement = this.statements.generatedRow(tenant !== undefined)
    return (await call.on.run(statement, tenant === undefined ? [] : [this.tenant.bind(tenant)], call)).rows
  }

  async update(call: SqlCall, { row, values, parents }: RowWrite): Promise<E | undefined> {
    const fields = this.fieldsOf(values)
    // A touch of a resource that has neither etag nor update_time writes nothing.
    if (fields.length === 0) return this.get(call, row)
    const increments: FieldIncrement[] = []
    const kept: Field[] = []
    const bound = [...this.#bound(fields, values, increments, kept), ...this.#identity(row)]
    const first = parents && takenFirst(parents, this.dialect)
    if (first !== undefined) bound.unshift(...first.values)
    const reach = increments.length === 0 ? row : inRange(row, increments, this.dialect)
    const statement = this.statements.update(
      fields,
      this.#predicate(reach, bound),
      { increments, kept },
      first?.taken,
    )
    const required = kept.find((field) => (values[field.property] as KeptUnread).isMissing)
    const written = this.#write(call, statement, bound, row)
    if (required === undefined) return written
    return written.catch((error: unknown) => {
      throw isNullError(error) ? missing(required) : error
    })
  }

  async undelete(call: SqlCall, { row, values }: RowWrite): Promise<E | undefined> {
    const fields = this.fieldsOf(values)
    const bound = [...this.#bound(fields, values), ...this.#identity(row)]
    const statement = this.statements.undelete(fields, this.#predicate(row, bound))
    return this.#write(call, statement, bound, row)
  }

  async delete(call: SqlCall, { row, values }: RowWrite): Promise<boolean> {
    const fields = this.fieldsOf(values)
    const bound = [...this.#bound(fields, values), ...this.#identity(row)]
    const statement = this.statements.delete(fields, this.#predicate(row, bound))
    return (await call.on.run(statement, bound, call)).affected > 0
  }

  async batchGet(
    call: SqlCall,
    keys: readonly string[],
    { tenant, where }: Reach,
    { lock, showDeleted, maxBytes }: GetOptions = {},
  ): Promise<E[]> {
    if (keys.length === 0) return []
    const isArray = this.dialect.can.arrays
    const bound = keys.map(this.key.bind)
    const padded = isArray ? [bound] : padToPowerOfTwo(bound)
    const values = [...this.#whose(tenant), ...padded]
    const predicate = this.#predicate({ tenant, where }, values)
    const statementOf = (isMeasured: boolean) =>
      this.statements.batchGet(isArray ? 1 : padded.length, predicate, {
        // Aggregates cannot lock rows.
        lock: isMeasured ? undefined : lock,
        showDeleted,
        isMeasured,
      })
    const read = (limit?: number) =>
      call.on.run(statementOf(false), values, limit === undefined ? call : { ...call, maxBytes: limit })
    const { rows } =
      maxBytes === undefined || keys.length === 1
        ? await read()
        : await readWithin(call.on, maxBytes, read, async (rows = 0) => {
            const [row] = (await call.on.run(statementOf(true), values, call)).rows
            if (Number(row?.[0]) > maxBytes) throw new TooManyBytes(maxBytes, rows)
            return read()
          })
    return rows.map((row) => this.#hydrate(row))
  }

  async batchUpdate(call: SqlCall, items: readonly RowPatch[], reach: Reach): Promise<(E | undefined)[]> {
    const fields = this.fieldsOf(items[0]?.patch ?? {})
    if (fields.length === 0) {
      const keys = items.map(({ key }) => key)
      const found = await this.batchGet(call, keys, reach, { lock: FOR_WRITE })
      return keys.map((key) => found.find((one) => this.model.keys.textOf(one) === key))
    }
    const first = items[0]?.patch ?? {}
    const isShared = ({ property }: Field) => items.every(({ patch }) => patch[property] === first[property])
    const shared = fields.filter(isShared)
    const own = fields.filter((field) => !shared.includes(field))
    const values = [
      ...this.#whose(reach.tenant),
      items.map(({ key }) => this.key.bind(key)),
      ...own.map((field) => items.map(({ patch }) => this.encode(field, patch[field.property]))),
      ...shared.map((field) => this.encode(field, first[field.property])),
    ]
    const statement = this.statements.batchUpdate(own, shared, this.#routed(call, reach, values))
    const { rows } = await call.on.run(statement, values, call)
    const updated = Array<E | undefined>(items.length).fill(undefined)
    for (const row of rows) updated[Number(row[0]) - 1] = this.hydrateBehind(row)
    return updated
  }

  async batchDelete(
    call: SqlCall,
    keys: readonly string[],
    reach: Reach,
    patch: Readonly<Values>,
  ): Promise<number> {
    const fields = this.fieldsOf(patch)
    const sorted = [...keys].sort(this.model.keys.compare).map(this.key.bind)
    const values = [...this.#whose(reach.tenant), sorted, ...this.#bound(fields, patch)]
    const statement = this.statements.batchDelete(fields, this.#routed(call, reach, values))
    return (await call.on.run(statement, values, call)).affected
  }

  /**
   * Returns the live row with this value, including columns that are not part of the entity. Without a
   * tenant, rows of all tenants are searched.
   */
  async find(
    call: SqlCall,
    field: Field,
    value: string,
    { tenant, where }: Reach,
  ): Promise<CredentialRow<E>[]> {
    const values = [field === this.model.key ? this.key.bind(value) : this.encode(field, value)]
    if (tenant !== undefined) values.push(this.tenant.bind(tenant))
    const statement = this.statements.find(field, this.#predicate({ tenant, where }, values))
    const { rows } = await call.on.run(statement, values, call)
    return rows.map((row) => credentialRowOf(this.model, row, this.#hydrate))
  }

  /** Writes at most `limit` live rows. Returns the number of written rows. */
  async writeWhere(
    call: SqlCall,
    kind: 'update' | 'delete',
    { tenant, where }: Reach,
    patch: Readonly<Values>,
    limit: number,
  ): Promise<number> {
    const fields = this.fieldsOf(patch)
    const whose = this.#whose(tenant)
    const again = this.dialect.can.limitedDelete ? [] : whose
    const values = [...this.#bound(fields, patch), ...whose, ...again]
    const statement = this.statements.writeWhere(
      kind,
      fields,
      this.#predicate({ tenant, where }, values),
      limit,
    )
    return (await call.on.run(statement, values, call)).affected
  }

  /** Removes a chunk of expired rows. Returns the number of removed rows. */
  async purge(call: SqlCall, before: Date, tenant: string | undefined, chunk: number): Promise<number> {
    const values = [this.encode(this.model.expireTime as Field, before), ...this.#whose(tenant)]
    const statement = this.statements.purge(this.#routed(call, { tenant }, values))
    return (await call.on.run(statement, [...values, chunk], call)).affected
  }

  /** Returns the tenants that have expired rows. */
  async expiredTenants(call: SqlCall, before: Date): Promise<readonly string[]> {
    const values = [this.encode(this.model.expireTime as Field, before)]
    const { rows } = await call.on.run(this.statements.expiredTenants(), values, call)
    return rows.map(([tenant]) => this.tenant.read(tenant))
  }

  async #write(
    call: SqlCall,
    statement: Statement,
    values: unknown[],
    { key, tenant }: Target,
  ): Promise<E | undefined> {
    const { rows, affected } = await call.on.run(statement, values, call)
    if (this.statements.canReturn) return rows[0] && this.#hydrate(rows[0])
    return affected === 0 ? undefined : ((await this.get(call, { key, tenant })) ?? this.#first([]))
  }

  #first(rows: readonly Row[]): E {
    if (rows[0] === undefined) throw new NotInserted()
    return this.#hydrate(rows[0])
  }

  /** Converts a value to its stored form. */
  encode(field: Field, value: unknown): unknown {
    if ((value === undefined || value === null) && field.transformed === undefined) return null
    const encode = this.#encoders.get(field)
    return encode === undefined ? value : encode(value)
  }

  #whose(tenant: string | undefined): unknown[] {
    return tenant === undefined ? [] : [this.tenant.bind(tenant)]
  }

  #bound(
    fields: readonly Field[],
    patch: Readonly<Values>,
    increments?: FieldIncrement[],
    kept?: Field[],
  ): unknown[] {
    const values: unknown[] = []
    for (const field of fields) {
      const value = patch[field.property]
      if (value instanceof FieldIncrement) increments?.push(value)
      if (value instanceof KeptUnread) {
        kept?.push(field)
        values.push(this.encode(field, value.value))
      } else values.push(this.encode(field, value instanceof FieldIncrement ? value.operand : value))
    }
    return values
  }

  #identity({ key, tenant, precondition }: Target): unknown[] {
    const values = [this.key.bind(key)]
    if (tenant !== undefined) values.push(this.tenant.bind(tenant))
    const { etag } = this.model
    if (precondition !== undefined && etag !== undefined) values.push(this.encode(etag, precondition.etag))
    return values
  }

  /**
   * Returns the condition of a statement on a row.
   *
   * @param values - the statement's values so far, to which the condition's are appended.
   */
  #predicate({ tenant, precondition, where }: Reach & Partial<Target>, values: unknown[]): RowPredicate {
    const isOfColumn = precondition !== undefined && this.model.etag !== undefined
    const predicate = { tenant: tenant !== undefined, etag: isOfColumn }
    const condition = isOfColumn ? undefined : precondition?.condition
    const all = condition === undefined ? where : and(where, condition)
    return all === undefined ? predicate : { ...predicate, where: toPredicate(all, this.dialect, values) }
  }

  #routed({ on }: SqlCall, reach: Reach, values: unknown[]): RowPredicate {
    const predicate = this.#predicate(reach, values)
    return on.isDistributed === true ? { ...predicate, isRouted: true } : predicate
  }

  /** Returns the fields of a patch. */
  fieldsOf(patch: Readonly<Values>): Field[] {
    const fields: Field[] = []
    for (const field of this.model.fields)
      if (field.generated !== true && Object.hasOwn(patch, field.property)) fields.push(field)
    return fields
  }
}

/** Returns true if the table sets the column of a new row. */
const isLeftOut = ({ isFilledByTable, property }: Field, values: Readonly<Values>): boolean =>
  isFilledByTable === true && (values[property] ?? undefined) === undefined
