import type { ChangeKind } from '../../../decorators/emits.js'
import type { RequestContext } from '../../context.js'
import { ErrConflict, ErrPreconditionFailed, Internal } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import { keyPartOf, type PartValue } from '../../resource/keys/key-part.js'
import { keptBy } from '../../resource/fields/transformed.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { ruleNames } from '../../resource/index-groups.js'
import { partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { FieldIncrement } from '../../resource/values/increment.js'
import { KeptUnread } from '../../resource/values/kept-unread.js'
import { missing, type Values } from '../contract/new-entity.js'
import { keyConflict, type Reach } from '../contract/scope.js'
import { type Change, ChangeEvents } from '../outbox/events/change-events.js'
import { type ReadColumn, toTest } from './filter-test.js'
import type { MemoryOutbox } from './memory-outbox.js'

/** Logs how to undo a change of a call. */
export type Log = ((undo: () => void) => void) & { readonly context: RequestContext }

/** The event of a replaced row. `nothing` is for a row that is removed next. */
export type Telling = 'what has changed' | 'nothing'

/** The rows of one resource. Rows are copied, so that callers never hold stored values. */
export class MemoryTable<E extends object> {
  /** Rows by primary key. A row is replaced and never changed. */
  readonly #rows = new Map<string, Values>()
  readonly #byColumn: ReadonlyMap<string, Field>

  readonly #events: ChangeEvents<E> | undefined
  /** The last generated number. A rollback does not decrease it. */
  #lastNumber = 0n

  constructor(
    private readonly model: ResourceModel<E>,
    private readonly outbox: MemoryOutbox,
  ) {
    this.#events = ChangeEvents.of(model)
    this.#byColumn = new Map(model.fields.map((field) => [field.column, field]))
  }

  /** Returns a row's value for a column. */
  readonly read: ReadColumn<Values> = (row, { column }) => {
    const field = this.#byColumn.get(column)
    if (field === undefined) return undefined
    const value = row[field.property]
    return value !== undefined && kindOf(field).hasKeys ? field.json?.decode(value as string) : value
  }

  filter(test: (row: Values) => boolean): Values[] {
    return [...this.#rows.values()].filter(test)
  }

  /** Returns the rows with a key, of one tenant or of all. */
  find(key: string, tenant: string | undefined): Values[] {
    const { tenantInKey, keys } = this.model
    if (!tenantInKey || tenant !== undefined) {
      const row = this.#rows.get(identity(tenantInKey ? tenant : undefined, key))
      return row !== undefined && this.belongsTo(row, tenant) ? [row] : []
    }
    return this.filter((row) => keys.textOf(row) === key)
  }

  /** Returns the rows that an operation can reach. */
  within(rows: Values[], { where }: Pick<Reach, 'where'>): Values[] {
    return where === undefined ? rows : rows.filter(toTest(where, this.read))
  }

  belongsTo(row: Values, tenant: string | undefined): boolean {
    const { tenant: owner } = this.model
    return owner === undefined || tenant === undefined || partIn(owner, row) === tenant
  }

  /** Returns the rows that have expired. */
  expired(before: Date, tenant: string | undefined): Values[] {
    const { expireTime } = this.model
    return this.filter((row) => {
      const expiry = expireTime && (row[expireTime.property] as Date | undefined)
      return this.belongsTo(row, tenant) && expiry !== undefined && expiry.getTime() <= before.getTime()
    })
  }

  isLive(row: Values): boolean {
    return this.model.deleteTime === undefined || row[this.model.deleteTime.property] === undefined
  }

  /**
   * Returns the row for the values of an entity.
   *
   * @param values - the values by property, including secrets and credentials.
   */
  rowOf(values: Readonly<Values>): Values {
    const row: Values = { ...values }
    for (const field of this.model.entityFields)
      row[field.property] = this.#stored(field, values[field.property])
    return row
  }

  entityOf(row: Readonly<Values>): E {
    const entity = this.model.create() as E & Values
    for (const field of this.model.entityFields)
      (entity as Values)[field.property] = this.#loaded(field, row[field.property])
    return entity
  }

  /**
   * Inserts a row.
   *
   * @throws ErrConflict, ErrPreconditionFailed like a database.
   */
  insert(row: Values, log: Log): void {
    const { key } = this.model
    if (key.isIdentity === true) row[key.property] = this.#nextKey()
    const id = this.#identityOf(row)
    this.#checkConstraints(row, undefined)
    if (this.#rows.has(id)) throw keyConflict(this.model)
    this.#rows.set(id, row)
    log(() => this.#rows.delete(id))
    this.#tell({ kind: 'created', after: row }, log)
  }

  /**
   * Replaces a row by one with the patch applied, and returns it. The patch has entity values by property.
   *
   * @throws InvalidArgument if an increment exceeds the range.
   */
  replace(row: Values, patch: Readonly<Values>, log: Log, telling: Telling = 'what has changed'): Values {
    const next = { ...row }
    for (const [property, value] of Object.entries(patch)) {
      if (value instanceof FieldIncrement) {
        next[property] = value.addedTo(row[property])
        continue
      }
      const field = this.model.byProperty.get(property)
      // Only this process writes the rows, so all values can be read.
      const held = value instanceof KeptUnread ? value.value : value
      if (value instanceof KeptUnread && value.isMissing) throw missing(value.field)
      next[property] = field === undefined ? held : this.#stored(field, held)
      if (field !== undefined && field === this.model.version)
        next[property] = Number(row[property] ?? 0) + Number(value)
      if (field === this.model.updateTime) next[property] = later(row[property], next[property])
    }
    const id = this.#identityOf(row)
    this.#checkConstraints(next, row)
    this.#rows.set(id, next)
    log(() => this.#rows.set(id, row))
    const hidden = this.#events?.hiddenIn(patch) ?? []
    const kind = KINDS[`${this.isLive(row)} ${this.isLive(next)}`]
    if (telling !== 'nothing' && kind !== undefined)
      this.#tell({ kind, before: row, after: next, hidden }, log)
    return next
  }

  /**
   * Removes a row and emits its event.
   *
   * @param kind - `purged` if the resource is soft-deletable or has expired.
   * @param before - the row in the event.
   */
  remove(row: Values, log: Log, kind: 'deleted' | 'purged' = 'deleted', before = row): void {
    const id = this.#identityOf(row)
    this.#rows.delete(id)
    log(() => this.#rows.set(id, row))
    this.#tell({ kind, before }, log)
  }

  #nextKey(): PartValue {
    const { key } = this.model
    const next = keyPartOf(key).valueOf(String(this.#lastNumber + 1n))
    if (next === undefined) throw new Internal(new RangeError(`${key.column} has no numbers left`))
    this.#lastNumber++
    return next
  }

  #tell({ before, after, ...change }: Change<Values>, log: Log): void {
    if (this.#events === undefined) return
    const entity = (row: Values | undefined) => row && this.entityOf(row)
    const reported = { ...change, before: entity(before), after: entity(after) }
    this.outbox.append(this.#events.rows([reported], log.context), log)
  }

  #identityOf(row: Readonly<Values>): string {
    const { tenantInKey, tenant, keys } = this.model
    return identity(tenantInKey && tenant !== undefined ? partIn(tenant, row) : undefined, keys.textOf(row))
  }

  #checkConstraints(row: Readonly<Values>, before: Readonly<Values> | undefined): void {
    for (const field of this.model.fields)
      if (!field.nullable && (row[field.property] ?? undefined) === undefined)
        throw new ErrPreconditionFailed()
    const others = () => this.filter((other) => other !== before)
    if (this.isLive(row))
      // Conditions in SQL cannot be evaluated in memory, so indexes with one are skipped.
      for (const { fields, where } of this.model.uniques)
        if (
          where === undefined &&
          others().some(
            (other) => this.isLive(other) && this.#sameTenant(other, row) && isSame(fields, other, row),
          )
        )
          throw new ErrConflict(undefined, ruleNames(fields))
    for (const { publicId } of this.model.credentials)
      if (others().some((other) => isSame([publicId], other, row))) throw new ErrConflict()
  }

  #sameTenant(a: Readonly<Values>, b: Readonly<Values>): boolean {
    return this.model.tenant === undefined || a[this.model.tenant.property] === b[this.model.tenant.property]
  }

  #stored(field: Field, held: unknown): unknown {
    const value = field.transformed === undefined ? held : field.transformed.to(held)
    if (value === undefined || value === null) return undefined
    if (field.json !== undefined) return field.json.encode(value)
    const kept = keptBy(field)
    if (kept !== undefined) return kept(value)
    if (value instanceof Date) return new Date(value)
    return value instanceof Uint8Array ? new Uint8Array(value) : value
  }

  #loaded(field: Field, value: unknown): unknown {
    const { transformed, ...column } = field
    if (transformed !== undefined) return transformed.from(this.#loaded(column, value) ?? null)
    if (value === undefined) return undefined
    return field.json === undefined ? this.#stored(field, value) : field.json.decode(value as string)
  }
}

/** The kind of a change, by whether the row was live before and is live afterwards. */
const KINDS: Readonly<Partial<Record<string, ChangeKind>>> = {
  'true true': 'updated',
  'true false': 'deleted',
  'false true': 'undeleted',
}

/**
 * Returns the map key of a row. Neither part contains the separator, because values with NUL are rejected
 * earlier.
 */
const identity = (tenant: string | undefined, key: string): string =>
  tenant === undefined ? key : `${tenant}\0${key}`

/** Returns true if the values are equal. NULL equals nothing. */
function isSame(fields: readonly Field[], a: Readonly<Values>, b: Readonly<Values>): boolean {
  return fields.every(({ property }) => {
    const [x, y] = [a[property], b[property]]
    if (x === undefined || x === null || y === undefined || y === null) return false
    if (x instanceof Date && y instanceof Date) return x.getTime() === y.getTime()
    return x instanceof Uint8Array && y instanceof Uint8Array ? Buffer.compare(x, y) === 0 : x === y
  })
}

/** Returns the later time. An update time never goes back, even if the clock does. */
const later = (before: unknown, after: unknown): unknown =>
  before instanceof Date && after instanceof Date && before > after ? before : after
