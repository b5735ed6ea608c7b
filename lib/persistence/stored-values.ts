import type { Field, FieldKind } from '../resource/field.js'
import type { ResourceModel } from '../resource/resource-model.js'
import type { Dialect, Row } from './executor.js'
import { bindOf } from './query/bind.js'
import type { PlanValue } from './query/plan.js'

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
  timestamp: (value) => toTime(value as string),
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

const digits = (text: string, at: number): number =>
  (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48

/** `YYYY-MM-DD?HH:MM:SS[.f…]` in UTC, as every dialect answers it; parsed by hand because `Date.parse` costs ten times as much. */
export function toTime(text: string): Date {
  let ms = 0
  if (text.charCodeAt(19) === 46) {
    let scale = 100
    for (let at = 20; scale >= 1; at++, scale /= 10) {
      const digit = text.charCodeAt(at) - 48
      if (!(digit >= 0 && digit <= 9)) break
      ms += digit * scale
    }
  }
  const year = digits(text, 0) * 100 + digits(text, 2)
  return new Date(
    Date.UTC(
      year,
      digits(text, 5) - 1,
      digits(text, 8),
      digits(text, 11),
      digits(text, 14),
      digits(text, 17),
      ms,
    ),
  )
}

/**
 * A stored time exactly, as a cursor needs it: another writer's may be finer than a Date, or no time that we write, and a
 * Date in its place would repeat its row or lose others.
 */
export function exactTime(stored: unknown, value: unknown, dialect: Dialect): unknown {
  if (typeof stored !== 'string') return value
  // SQLite compares the texts.
  if (dialect === 'sqlite') return (value as Date).toJSON() === stored ? value : stored
  const usual = USUAL.exec(stored)
  if (usual === null) return stored
  const rest = (usual[1] ?? '').padEnd(6, '0').slice(3)
  return rest === '000' ? value : BigInt(toTime(stored).getTime()) * 1000n + BigInt(rest)
}

/** A time of the years 1000 to 9999 as PostgreSQL and MySQL answer it. */
const USUAL = /^[1-9]\d{3}-(?!00)\d\d-(?!00)\d\d \d\d:\d\d:\d\d(?:\.(\d{1,6}))?(?:\+00)?$/
