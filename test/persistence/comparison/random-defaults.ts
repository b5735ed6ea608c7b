import fc from 'fast-check'
import 'reflect-metadata'
import { Column, type ColumnOptions, type ColumnType, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'

/** A column of each kind that can have a constant as its default. */
interface DefaultedColumn {
  readonly type: unknown
  readonly column: ColumnOptions & { readonly type?: ColumnType }
  readonly values: fc.Arbitrary<unknown>
  /** Values that a database once spelled in a way of its own. */
  readonly known: readonly unknown[]
}

const TEXTS = [
  ...['', ' ', 'plain', 'a\nb', 'a\r\nb', '\t', "it's", '\\', '\\\\', '\\n', "\\'", '"', '`', 'é', 'e\u0301'],
  ...['💥', '😀 ok', '💥', '\u{10FFFF}', '?', '%', '_utf8mb4', '\b\x1a\x7f', '\u2028', '\uFEFF', '\uFFFD'],
  ...['12', '-1.50', '1e3', 'NULL', 'null', 'true', 'now()', 'CURRENT_TIMESTAMP', "x'::text", '(a)', '::int'],
  ...['--', '/* a */', ';', '$$', "''", "'", ':name', '?', "'a'::character varying", '{}', '\\x41'],
]
const FRACTIONS = [
  ...[0, 0.1, -0.1, 1.5, 1e-7, 1e20, -1e20, 1e21, 1e22, 123456.789, 0.30000000000000004, 1e15, 1e16, 1e17],
  ...[16777217, 2 ** 53, 2 ** 53 - 1, 1.0000000000000002, -1.1],
]
const DOUBLES = [
  ...[5e-324, -5e-324, 2.2250738585072014e-308, -2.2250738585072014e-308, 2.225073858507201e-308],
  ...[1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53 + 2, 4.35, -1.2345678901234e-300],
]
const FLOATS = [3.4028234663852886e38, 1.401298464324817e-45, -3.4028234663852886e38, 1.17549435e-38]
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).filter((one) => !one.includes('\0') && one.isWellFormed()),
  fc.string({
    unit: fc.constantFrom("'", '\\', '"', '\n', '\r', '(', ')', ':', 'E', '💥', ' ', '1'),
    maxLength: 40,
  }),
)
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0)

const KINDS: Readonly<Record<string, DefaultedColumn>> = {
  short: { type: String, column: { type: 'varchar', length: 40 }, values: text, known: TEXTS },
  long: { type: String, column: { type: 'text' }, values: text, known: TEXTS },
  id: { type: String, column: { type: 'uuid' }, values: fc.uuid(), known: [] },
  whole: {
    type: Number,
    column: { type: 'int' },
    values: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    known: [0, -1, 7, -(2 ** 31), 2 ** 31 - 1],
  },
  wide: {
    type: BigInt,
    column: { type: 'bigint' },
    values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    known: [0n, -1n, 7n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 31n, -(2n ** 31n)],
  },
  double: {
    type: Number,
    column: { type: 'double precision' },
    values: double,
    known: [...FRACTIONS, ...DOUBLES],
  },
  float: {
    type: Number,
    column: { type: 'real' },
    values: fc.float({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
    known: [...FRACTIONS, ...FLOATS],
  },
  flag: { type: Boolean, column: { type: 'boolean' }, values: fc.boolean(), known: [true, false] },
}

export type KindOfDefault = keyof typeof KINDS

/** Columns with their defaults. */
export type Defaults = readonly (readonly [kind: KindOfDefault, value: unknown])[]

/** Every default that was wrong once, and its neighbours. */
export const KNOWN: Defaults = Object.entries(KINDS).flatMap(([kind, { known }]) =>
  known.map((value) => [kind, value] as const),
)

/** As many columns of any kinds. */
export const defaults = (columns: number): fc.Arbitrary<Defaults> =>
  fc.array(
    fc.oneof(
      ...Object.entries(KINDS).map(([kind, { values }]) => values.map((value) => [kind, value] as const)),
    ),
    { minLength: columns, maxLength: columns },
  )

/** The same columns with the defaults of others of their kind. */
export const rotated = (all: Defaults): Defaults =>
  all.map(([kind], at) => {
    const same = all.filter(([one]) => one === kind)
    const own = all.slice(0, at).filter(([one]) => one === kind).length
    return [kind, same[(own + 1) % same.length]?.[1]]
  })

/** What entities hold, for the value of a default. */
export const held = ([kind, value]: Defaults[number]): unknown =>
  kind === 'float' ? Math.fround(value as number) : value

export const propertyOf = (at: number): string => `p${at}`

/** An entity with these columns. */
export function entityOf(all: Defaults): new () => { readonly id: string } {
  class Defaulted {}
  const declare = (name: string, type: unknown, decorate: PropertyDecorator) => {
    Reflect.defineMetadata('design:type', type, Defaulted.prototype, name)
    decorate(Defaulted.prototype, name)
  }
  declare('id', String, PrimaryColumn())
  for (const [at, [kind, value]] of all.entries()) {
    const { type, column } = KINDS[kind] as DefaultedColumn
    declare(propertyOf(at), type, Column({ ...column, default: value } as ColumnOptions))
  }
  TenantScoped()(Defaulted)
  Entity('defaulted')(Defaulted)
  Resource()(Defaulted)
  return Defaulted as new () => { readonly id: string }
}
