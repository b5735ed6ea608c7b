import fc from 'fast-check'
import type { Column, Columns } from '../../../lib/resource/fields/field.js'
import type { EnumNames } from '../../../lib/resource/enums/enum-names.js'
import type { PlanColumn } from '../../../lib/persistence/query/query-plan.js'

const NUMBERS = { ACTIVE: 1, PAUSED: 2, active: 3 } as const
const states: EnumNames = {
  nameOf: new Map(Object.entries(NUMBERS).map(([name, number]) => [number, name])),
  numberOf: new Map(Object.entries(NUMBERS)),
}
const column = (name: string, kind: Column['kind'], nullable = true): Column => ({
  column: name,
  kind,
  nullable,
})

/** One column of every kind. Columns are not called as their fields are, so that a mix-up shows. */
export const COLUMNS = {
  id: column('row_id', 'string', false),
  name: column('c name', 'string', false),
  note: column('c_note', 'string'),
  flag: column('c_flag', 'bool'),
  small: column('c_small', 'int32', false),
  count: column('c_count', 'uint32'),
  big: column('c_big', 'int64'),
  huge: column('c_huge', 'uint64'),
  ratio: column('c_ratio', 'float'),
  weight: column('c_weight', 'double'),
  state: { ...column('c_state', 'enum'), enumNames: states },
  at: column('c_at', 'timestamp'),
  span: column('c_span', 'duration'),
  data: column('c_data', 'bytes'),
  tags: column('key', 'tags'),
} as const satisfies Columns

export type FieldName = keyof typeof COLUMNS
export type Row = { readonly [name in FieldName]: unknown }

export const FIELDS = Object.keys(COLUMNS) as readonly FieldName[]
export const SORTABLE = FIELDS.filter((name) => name !== 'tags')

const FIELD_OF = new Map<PlanColumn, FieldName>(FIELDS.map((name) => [COLUMNS[name], name]))

/** Reads a row for the evaluator, as the memory repository reads an entity. */
export const read = (row: Row, of: PlanColumn): unknown => row[FIELD_OF.get(of) ?? 'id']

/** Text on both sides of every difference that a careless collation overlooks. */
export const TEXTS = [
  ...['', ' ', 'a', 'A', 'a ', ' a', 'ab', 'aB', 'b', 'á', 'a\u0301', 'ß', 'ss', 'ı', 'I', '1', '10', '9'],
  ...[
    '%',
    '_',
    'a%',
    "'",
    '"',
    '\\',
    '\\"',
    '\n',
    '\t',
    '\u0001',
    '\u007f',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '😀a',
    '\u{10ffff}',
  ],
]

/** Keys that a path would read as something else. */
export const KEYS = [
  ...[
    'a',
    'A',
    'a.b',
    'a"b',
    'a\\b',
    'a\\"b',
    '',
    ' ',
    'a ',
    '$',
    '*',
    '**',
    '[0]',
    '0',
    '1',
    "'",
    '\\',
    '"',
    '"."',
  ],
  ...['\\u0041', '\n', 'a/b', 'last', '%', 'é', '😀', '\uffff', '\u0001', '__proto__', 'constructor', 'null'],
  ...[
    '-',
    '--',
    '-a',
    '-A',
    '-a ',
    '-1',
    '-"',
    '-\\',
    '-é',
    '-😀',
    'a-',
    '\t-',
    '.',
    '..',
    '@',
    '`',
    'to',
    'x'.repeat(300),
  ],
]

export const NUMERIC = {
  small: [-(2 ** 31), -1, 0, 1, 2, 10, 2 ** 31 - 1],
  count: [0, 1, 2, 2 ** 31, 2 ** 32 - 1],
  big: [
    -(2n ** 63n),
    -9007199254740993n,
    -1n,
    0n,
    1n,
    9007199254740992n,
    9007199254740993n,
    2n ** 63n - 2n,
    2n ** 63n - 1n,
  ],
  huge: [0n, 1n, 9007199254740993n, 2n ** 63n - 2n, 2n ** 63n - 1n],
  ratio: [0, -0, 0.1, 1.1, -0.1, 1 / 3, 1.5, 16777216, 3.4028234663852886e38, 1.1754943508222875e-38],
  weight: [0, -0, 0.1, 0.2, 0.30000000000000004, 0.3, -1.5, 9007199254740991, 1e300, -1e300, 1e-300],
} as const

export const INSTANTS = [
  ...[
    '1000-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00.000Z',
    '2024-02-29T12:00:00.001Z',
  ],
  ...['2024-02-29T12:00:00.002Z', '2024-03-10T02:30:00.000Z', '9999-12-31T23:59:59.999Z'],
]
export const SPANS = [-(2n ** 63n), -1n, 0n, 1n, 1_500_000_000n, 1_500_000_001n, 2n ** 63n - 1n]
export const BYTES = [[], [0], [0, 0], [1], [127], [128], [255], [0x61], [0x41], [0x61, 0x20]].map((bytes) =>
  Uint8Array.from(bytes),
)

const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 5 })

const tags = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...TEXTS)), {
    maxLength: 5,
    selector: ([key]) => key,
  })
  .map((entries) => Object.fromEntries(entries))

const row: fc.Arbitrary<Omit<Row, 'id'>> = fc.record({
  name: fc.constantFrom(...TEXTS),
  note: maybe(TEXTS),
  flag: maybe([true, false]),
  small: fc.constantFrom(...NUMERIC.small),
  count: maybe(NUMERIC.count),
  big: maybe(NUMERIC.big),
  huge: maybe(NUMERIC.huge),
  ratio: maybe(NUMERIC.ratio),
  weight: maybe(NUMERIC.weight),
  state: maybe([1, 2, 3]),
  at: maybe(INSTANTS.map((text) => new Date(text))),
  span: maybe(SPANS),
  data: maybe(BYTES),
  tags: fc.option(tags, { nil: undefined, freq: 5 }),
})

const nth = <T>(values: readonly T[], index: number): T | undefined => values[index % (values.length + 1)]

/** Few rows in which every column holds each of its values, and NULL where it may. */
export const everyValue: readonly Row[] = TEXTS.map((text, i) => ({
  id: `r${i}`,
  name: text,
  note: nth(TEXTS, i),
  flag: nth([true, false], i),
  small: NUMERIC.small[i % NUMERIC.small.length],
  count: nth(NUMERIC.count, i),
  big: nth(NUMERIC.big, i),
  huge: nth(NUMERIC.huge, i),
  ratio: nth(NUMERIC.ratio, i),
  weight: nth(NUMERIC.weight, i),
  state: nth([1, 2, 3], i),
  at: nth(
    INSTANTS.map((instant) => new Date(instant)),
    i,
  ),
  span: nth(SPANS, i),
  data: nth(BYTES, i),
  tags:
    i === 0
      ? undefined
      : {
          a: text,
          [KEYS[i % KEYS.length] ?? '']: text,
          [KEYS[(i + TEXTS.length) % KEYS.length] ?? '']: text,
        },
}))

/** Random rows with ids of their own. */
export const rows = (count: number): fc.Arbitrary<Row[]> =>
  fc
    .array(row, { minLength: count, maxLength: count })
    .map((drawn) => drawn.map((each, index) => ({ id: `r${index}`, ...each })))
