import type { Field, FieldKind } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Row } from '../engines/executor/executor.js'
import { bindOf } from '../dialects/bind.js'
import type { PlanValue } from '../query/plan.js'
import { storedTime } from '../dialects/stored-time.js'

/** Entity value → what the driver is given. */
export type Encode = (value: unknown) => unknown

/** How a field's values are bound: with the placeholder and the form that filters use, so that both find the same row. */
export function encoderOf(model: ResourceModel, field: Field, dialect: Dialect): Encode {
  const bind = bindOf(dialect)
  const json = model.json.get(field)
  if (json !== undefined) return nullable((value) => json.encode(value))
  if (field.kind === 'enum') return nullable((value) => field.enumNames?.nameOf.get(value as number))
  return nullable((value) => bind.value(field, value as PlanValue))
}

const nullable =
  (encode: Encode): Encode =>
  (value) =>
    value === undefined || value === null ? null : encode(value)

/**
 * How a field is selected, so that its decoder gets what it expects. PostgreSQL writes bytes and floating-point numbers as
 * its settings say (`bytea_output`, `extra_float_digits`), which behind a transaction pooler are those of whichever session
 * comes; in hexadecimal they are always the same.
 */
export function selected(field: Field, quoted: string, dialect: Dialect, alias: string): string {
  if (dialect === 'postgres') {
    if (field.kind === 'bytes') return `encode(${quoted}, 'hex') AS ${HEX}`
    return isFloating(field.kind) ? `encode(float8send(${quoted}), 'hex') AS ${HEX}` : quoted
  }
  const wide = field.kind === 'int64' || field.kind === 'uint64' || field.kind === 'duration'
  return dialect === 'sqlite' && wide ? `CAST(${quoted} AS TEXT) AS ${alias}` : quoted
}

/** ORDER BY takes a name of the select list for that before it takes it for a column's, and no column is called this. */
const HEX = '"(hex)"'

const isFloating = (kind: FieldKind): boolean => kind === 'float' || kind === 'double'

/** Row → entity, compiled once per resource and dialect: positional, without a loop or a lookup by name. */
export type Hydrate<E> = (row: Row) => E

/** @param offset - of the first field in the row. */
export function hydratorOf<E extends object>(
  model: ResourceModel<E>,
  fields: readonly Field[],
  dialect: Dialect,
  offset = 0,
): Hydrate<E> {
  const decoders = fields.map((field) => decoderOf(model, field, dialect))
  const lines = fields.map(
    (field, i) =>
      `e[${JSON.stringify(field.property)}] = r[${i + offset}] === null ? undefined : ${expression(field, dialect, `r[${i + offset}]`, i)};`,
  )
  // Property names come from the declared class, never from input.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a loop over fields costs three times as much per row
  const compile = new Function(
    'create',
    'd',
    `return function hydrate(r) { const e = create(); ${lines.join(' ')} return e }`,
  )
  return (compile as (create: () => E, d: readonly Decode[]) => Hydrate<E>)(() => model.create(), decoders)
}

type Decode = (value: unknown) => unknown

/** The cheap kinds are written inline; the rest goes through its decoder. */
function expression(field: Field, dialect: Dialect, value: string, index: number): string {
  if (field.kind === 'string') return value
  if (field.kind === 'int32' || field.kind === 'uint32') return `+${value}`
  if (field.kind === 'double' && dialect !== 'postgres') return `+${value}`
  if (field.kind === 'bool') return dialect === 'postgres' ? `${value} === 't'` : `+${value} === 1`
  return `d[${index}](${value})`
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
  if (json !== undefined) return (value) => json.decode(value as string)
  if (kind === 'enum') return (value) => field.enumNames?.numberOf.get(value as string) ?? 0
  if (kind === 'bool')
    return dialect === 'postgres' ? (value) => value === 't' : (value) => Number(value) === 1
  if (kind === 'bytes')
    return dialect === 'postgres'
      ? (value) => new Uint8Array(Buffer.from(value as string, 'hex'))
      : (value) => new Uint8Array(value as Buffer)
  if (dialect === 'postgres' && isFloating(kind)) return (value) => fromHex(value as string)
  return DECODERS[kind as keyof typeof DECODERS]
}

/** A column of single precision was widened, which is exact. */
const fromHex = (text: string): number => Buffer.from(text, 'hex').readDoubleBE()
