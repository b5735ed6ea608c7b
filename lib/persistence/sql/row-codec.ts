import type { Field } from '../../resource/fields/field.js'
import { keptValue } from '../../resource/fields/transformed.js'
import { heldOf, kindOf, ownOf } from '../../resource/kinds/kinds.js'
import { severalSet } from '../../resource/values/oneofs.js'
import { zeroOf } from '../../resource/values/conversions.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { MAX_TIMESTAMP_MS } from '../../text/rfc3339.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Row } from '../engines/executor/executor.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import type { OrderTerm } from '../query/order-by.js'
import type { KnownHydrators } from '../relations/searched-rows.js'
import type { PlanColumn } from '../query/query-plan.js'
import { UnreadFields } from '../rows/unread-fields.js'

/**
 * Converts a row to an entity. Compiled once per resource and dialect, by position, without loops or lookups
 * by name.
 */
export type Hydrate<E> = (row: Row) => E

/**
 * Returns a function that converts rows to entities.
 *
 * @param offset - the position of the first field in the row.
 */
export function hydratorOf<E extends object>(
  model: ResourceModel<E>,
  fields: readonly Field[],
  dialect: Dialect,
  offset = 0,
): Hydrate<E> {
  let at = offset
  const lines = linesOf(model, fields, dialect, () => `r[${at++}]`)
  return compiled(model, fields, dialect, `function hydrate(r) { ${lines} return e }`)
}

/**
 * Returns functions that convert rows to entities without reading known columns.
 *
 * @param isLive - true if all rows are live, so that the delete time is not read.
 * @param isOwned - true if all rows have the tenant that the functions receive.
 */
export function knownHydratorsOf<E extends object>(
  model: ResourceModel<E>,
  dialect: Dialect,
  isLive: boolean,
  isOwned: boolean,
): KnownHydrators<E> {
  const { entityFields, tenant, deleteTime } = model
  const known = (field: Field): string | undefined => {
    if (isLive && field === deleteTime) return 'undefined'
    return isOwned && field === tenant ? 't' : undefined
  }
  const selected = entityFields.filter((field) => known(field) === undefined)
  const lines = (read: (index: number) => string) =>
    linesOf(model, entityFields, dialect, (field) => read(selected.indexOf(field)), known)
  const names = selected.map((_, i) => `c${i}`).join(', ')
  const [row, columns] = [
    `function hydrate(r, t) { ${lines((i) => `r[${i}]`)} return e }`,
    `function hydrate([${names}], n, t) { const all = []; for (let i = 0; i < n; i++) { ${lines((i) => `c${i}[i]`)} all.push(e) } return all }`,
  ]
  return {
    selected,
    row: compiled(model, entityFields, dialect, row),
    columns: compiled(model, entityFields, dialect, columns),
  }
}

/**
 * Generates the code that assigns each field.
 *
 * @param known - returns the expression for a field that is not read.
 */
function linesOf(
  { oneofs }: ResourceModel,
  fields: readonly Field[],
  dialect: Dialect,
  read: (field: Field) => string,
  known: (field: Field) => string | undefined = () => undefined,
): string {
  const lines = fields.map((field, i) => {
    const property = `e[${JSON.stringify(field.property)}]`
    const value = known(field)
    if (value !== undefined) return `${property} = ${value};`
    if (field.nullIsZero === true || field.transformed !== undefined)
      return `${property} = d[${i}](${read(field)}, e);`
    return `v = ${read(field)}; ${property} = v === null ? undefined : ${expression(field, dialect, 'v', i)};`
  })
  const last = oneofs.length === 0 ? '' : ' o(e);'
  return `const e = create(); let v; ${lines.join(' ')}${last}`
}

function compiled<E extends object, F>(
  model: ResourceModel<E>,
  fields: readonly Field[],
  dialect: Dialect,
  text: string,
): F {
  const decoders = fields.map((field) => decoderOf(model, field, dialect))
  const unread = fields.map((field) => unreadOf(model, field))
  // Property names come from the declared class, never from input.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a loop over fields costs three times as much per row
  const compile = new Function('create', 'd', 'u', 'o', `return ${text}`)
  const one = (entity: object) => {
    for (const oneof of severalSet(model.oneofs, entity as Values))
      UnreadFields.of(model).several(entity, oneof)
  }
  type Compile = (create: () => E, d: readonly RowDecode[], u: readonly Unread[], o: typeof one) => F
  return (compile as Compile)(model.create, decoders, unread, one)
}

/**
 * Decodes a column.
 *
 * @param entity - the entity with the fields that were already read.
 */
type RowDecode = (value: unknown, entity: object) => unknown

/** Returns the decoder of a field. It also handles NULL, if NULL is read as the zero value. */
function decoderOf(model: ResourceModel, field: Field, dialect: Dialect): RowDecode {
  const decode = storedDecoderOf(model, field, dialect)
  const { transformed } = field
  if (transformed !== undefined) {
    const zero = field.nullIsZero === true ? transformed.held : undefined
    return (value, entity) =>
      transformed.from(value === null ? null : decode(value, entity)) ?? (zero && zeroOf(zero))
  }
  if (field.nullIsZero !== true) return decode
  const { zero } = kindOf(field)
  return (value, entity) => (value === null ? heldOf(zero(field), field) : decode(value, entity))
}

/**
 * Returns a decoder for which a value that the entity cannot represent counts as unset, because another
 * program or a newer image may have stored it. Such a value must not fail the whole read.
 */
function storedDecoderOf(model: ResourceModel, field: Field, dialect: Dialect): RowDecode {
  const decodeOwn = dialect.values.kinds[field.kind].decoder(field)
  const decode = field.held === undefined ? decodeOwn : (value: unknown) => heldOf(decodeOwn(value), field)
  const reads = readsOf(field, dialect)
  // Hydrators report the values that such a decoder does not return, which saves a function call.
  if (reads === 'all' || (reads === 'some' && isOwn(field))) return decode
  const unread = unreadOf(model, field)
  return (value, entity) => {
    try {
      const read = decode(value)
      if (read !== undefined) return read ?? undefined
    } catch {
      // It is reported as an unreadable value.
    }
    return unread(entity)
  }
}

const readsOf = (field: Field, dialect: Dialect) => dialect.values.kinds[field.kind].reads?.(field)

/** Returns true if the property has the kind's own values. */
const isOwn = ({ held, hasDigits, inProperty, stored, nullIsZero, transformed }: Field): boolean =>
  (held ?? hasDigits ?? inProperty ?? stored ?? nullIsZero ?? transformed) === undefined

/** Returns the value of a field whose stored value the entity cannot represent, and reports it. */
type Unread = (entity: object) => unknown

function unreadOf(model: ResourceModel, field: Field): Unread {
  const fields = UnreadFields.of(model)
  return (entity) => {
    fields.found(entity, field)
    // The row still counts as deleted.
    return field === model.deleteTime ? new Date(MAX_TIMESTAMP_MS) : undefined
  }
}

/** Returns the code that decodes a value. Simple kinds are decoded inline, others by their decoder. */
const expression = (field: Field, dialect: Dialect, value: string, index: number): string => {
  const inline = isOwn(field) ? dialect.values.kinds[field.kind].inline?.(value) : undefined
  const read = inline ?? `d[${index}](${value}, e)`
  return isOwn(field) && readsOf(field, dialect) === 'some' ? `${read} ?? u[${index}](e)` : read
}

/**
 * Returns a function that converts written values to the entity that a read would return, for columns that
 * preserve values.
 */
export function writtenEntityOf<E extends object>(model: ResourceModel<E>): (values: Readonly<Values>) => E {
  const kept = model.entityFields.map(({ property }) => property)
  const read = model.entityFields.map(keptValue)
  return (values) => {
    const entity = model.create()
    for (const [i, property] of kept.entries()) {
      ;(entity as Values)[property] = read[i]?.(values[property] ?? undefined)
    }
    return entity
  }
}

/**
 * Returns the entity and the remaining columns of a row with every stored field. The entity's fields are
 * mixed with others in the row, so they are selected first.
 */
export const credentialRowOf = <E extends object>(
  { fields, entityFields }: ResourceModel,
  row: Row,
  hydrate: Hydrate<E>,
): CredentialRow<E> => ({
  entity: hydrate(entityFields.map((field) => row[fields.indexOf(field)])),
  columns: Object.fromEntries(fields.map((field, i) => [field.property, row[i]])),
})

/**
 * Returns the values of a page's last row for its page token.
 *
 * @param stored - returns a field as stored in the row.
 * @param joined - the values of other rows, in the order of the terms.
 */
export function sortValuesOf(
  model: ResourceModel,
  dialect: Dialect,
  terms: readonly OrderTerm[],
  last: object,
  stored: (field: Field) => unknown,
  joined: readonly unknown[],
): unknown[] {
  let next = 0
  return terms.map(({ column }) => {
    if (column.of !== undefined) return joinedValue(column, column.of.target, dialect, joined[next++])
    const field = model.entityFields.find((one) => one.column === column.column)
    const value = field && (last as Values)[field.property]
    if (field === undefined) return value
    const { exact } = dialect.values.kinds[field.kind]
    if (exact === undefined) return value
    const held = stored(field)
    return held === null && field.nullIsZero === true ? value : exact(held, ownOf(value, field), field)
  })
}

/** Returns a value of a joined row. */
function joinedValue(column: PlanColumn, target: ResourceModel, dialect: Dialect, stored: unknown): unknown {
  const field = target.entityFields.find((one) => one.column === column.column)
  if (stored === null || field === undefined) return stored
  const { decoder, exact } = dialect.values.kinds[field.kind]
  const value = decoder(field)(stored)
  return exact === undefined ? value : exact(stored, value, field)
}
