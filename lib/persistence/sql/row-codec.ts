import { InvalidArgument } from '../../errors.js'
import type { Field, FieldKind } from '../../resource/fields/field.js'
import { INTEGER_RANGES } from '../../resource/values/ranges.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Decode, Dialect } from '../dialects/dialect.js'
import type { Row } from '../engines/executor/executor.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import type { OrderTerm } from '../query/order-by.js'
import type { PlanColumn, PlanValue } from '../query/plan.js'
import { storedTime } from '../dialects/values/stored-time.js'

/** Entity value → what the driver is given; never asked about undefined and null, which are NULL in every column. */
export type Encode = (value: unknown) => unknown

/**
 * How a field's values are bound: with the placeholder and the form that filters use, so that both find the same row. Undefined
 * where they are bound as they are.
 */
export function encoderOf(model: ResourceModel, field: Field, dialect: Dialect): Encode | undefined {
  if (field.kind === 'string') return undefined
  const json = model.json.get(field)
  if (json !== undefined) return json.encode
  if (field.kind === 'enum') return (value) => field.enumNames?.nameOf.get(value as number)
  const { largestUint64, label } = dialect
  if (field.kind === 'uint64' && largestUint64 < INTEGER_RANGES.uint64[1])
    return (value) => {
      if (typeof value === 'bigint' && value > largestUint64)
        throw new InvalidArgument(field.proto, `is above 2^63-1, the most ${label} can store`)
      return dialect.value(field, value as PlanValue)
    }
  return (value) => dialect.value(field, value as PlanValue)
}

/** Row → entity, compiled once per resource and dialect: positional, without a loop or a lookup by name. */
export type Hydrate<E> = (row: Row) => E

/** @param offset - of the first field in the row. @param unset - a field that is not in the row, because it is not set. */
export function hydratorOf<E extends object>(
  model: ResourceModel<E>,
  fields: readonly Field[],
  dialect: Dialect,
  offset = 0,
  unset?: Field,
): Hydrate<E> {
  const decoders = fields.map((field) => decoderOf(model, field, dialect))
  let at = offset
  const lines = fields.map((field, i) => {
    const property = `e[${JSON.stringify(field.property)}]`
    if (field === unset) return `${property} = undefined;`
    const value = `r[${at++}]`
    return `${property} = ${value} === null ? undefined : ${expression(field, dialect, value, i)};`
  })
  // Property names come from the declared class, never from input.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a loop over fields costs three times as much per row
  const compile = new Function(
    'create',
    'd',
    `return function hydrate(r) { const e = create(); ${lines.join(' ')} return e }`,
  )
  return (compile as (create: () => E, d: readonly Decode[]) => Hydrate<E>)(model.create, decoders)
}

/** The cheap kinds are written inline; the rest goes through its decoder. */
function expression(field: Field, dialect: Dialect, value: string, index: number): string {
  if (field.kind === 'string') return value
  if (field.kind === 'int32' || field.kind === 'uint32') return `+${value}`
  return dialect.inlineDecoders[field.kind]?.(value) ?? `d[${index}](${value})`
}

/** Written values → the entity that a read of the row gives, where its columns keep what is written. */
export function writtenEntityOf<E extends object>(model: ResourceModel<E>): (values: Readonly<Values>) => E {
  const kept = model.entityFields.map(({ property }) => property)
  const read = model.entityFields.map((field): ((value: unknown) => unknown) => {
    const json = model.json.get(field)
    if (json !== undefined) return (value) => json.decode(json.encode(value))
    return field.kind === 'float' ? (value) => Math.fround(value as number) : (value) => value
  })
  return (values) => {
    const entity = model.create()
    for (const [i, property] of kept.entries()) {
      const value = values[property] ?? undefined
      ;(entity as Values)[property] = value === undefined ? undefined : read[i]?.(value)
    }
    return entity
  }
}

const DECODERS: Readonly<Record<Exclude<FieldKind, 'json' | 'tags' | 'enum' | 'bytes' | 'bool'>, Decode>> = {
  string: (value) => value,
  int32: Number,
  uint32: Number,
  double: Number,
  float: (value) => Math.fround(Number(value)),
  int64: (value) => BigInt(value as string),
  uint64: (value) => BigInt(value as string),
  duration: (value) => BigInt(value as string),
  timestamp: storedTime,
}

function decoderOf(model: ResourceModel, field: Field, dialect: Dialect): Decode {
  const { kind } = field
  const json = model.json.get(field)
  if (json !== undefined) return json.decode as Decode
  if (kind === 'enum') return (value) => field.enumNames?.numberOf.get(value as string) ?? 0
  return dialect.decoders[kind] ?? DECODERS[kind as keyof typeof DECODERS]
}

/** Of a row of every stored field. Entities are hydrated by position of the entity's own fields, and others are between. */
export const credentialRowOf = <E extends object>(
  { fields, entityFields }: ResourceModel,
  row: Row,
  hydrate: Hydrate<E>,
): CredentialRow<E> => ({
  entity: hydrate(entityFields.map((field) => row[fields.indexOf(field)])),
  columns: Object.fromEntries(fields.map((field, i) => [field.property, row[i]])),
})

/** What a page token holds of the last row of a page. */
export function sortValuesOf(
  model: ResourceModel,
  dialect: Dialect,
  terms: readonly OrderTerm[],
  last: object,
  row: Row,
): unknown[] {
  let joined = model.entityFields.length
  return terms.map(({ column }) => {
    if (column.of !== undefined) return joinedValue(column, column.of.target, dialect, row[joined++])
    const index = model.entityFields.findIndex((field) => field.column === column.column)
    const field = model.entityFields[index]
    const value = field && (last as Values)[field.property]
    // A name that another version of the message has is read as the zero value, and sorted as what it is.
    if (field?.kind === 'enum') return row[index]
    return field?.kind === 'timestamp' ? dialect.exactTime(row[index], value) : value
  })
}

/** A value of another row, which stands behind the columns of the own one. */
function joinedValue(column: PlanColumn, target: ResourceModel, dialect: Dialect, stored: unknown): unknown {
  const field = target.entityFields.find((one) => one.column === column.column)
  if (stored === null || field === undefined || field.kind === 'enum') return stored
  const value = decoderOf(target, field, dialect)(stored)
  return field.kind === 'timestamp' ? dialect.exactTime(stored, value) : value
}
