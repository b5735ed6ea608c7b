import type { PlanValue } from '../../query/query-plan.js'
import { decimalText } from '../../../resource/kinds/fractions.js'
import { INT64 } from '../../../resource/kinds/integers.js'
import type { Facets } from '../../../resource/kinds/kind.js'
import { StoredLiteral } from '../../../resource/kinds/stored-literal.js'
import { InvalidArgument } from '../../../errors.js'
import { type BoundValue, isoMillis } from '../values/bound-value.js'
import { bufferOf } from '../values/buffer-of.js'
import {
  boundBy,
  exactFloat,
  type LiteralSql,
  type KindSql,
  type KindsSql,
  kindsSqlOf,
  noArrays,
  OF_BIGINT,
  OF_DATE,
  OF_DECIMAL,
  OF_ENUM,
  OF_FLAG,
  OF_INT32,
  OF_UINT32,
  OF_UNSIGNED_BIGINT,
  OF_JSON,
  OF_TEXT,
  READS,
} from '../values/kind-sql.js'
import { storedTime } from '../values/stored-time.js'
import { readableDate, readableDecimal, readableEnum, readableList, readableTime } from './readable.js'
import { booleanInside, doubleInside, integerInside, nameInside, textInside } from './json.js'

function bound(value: PlanValue): BoundValue {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return value
  return value instanceof Date ? value.toISOString() : bufferOf(value as Uint8Array)
}

/** JSON holds no bytes, which another writer may have stored as text. */
const asText = (column: string): string => `CAST(${column} AS TEXT)`

/** Begins a literal among the gathered values. */
const LITERAL = '\u0001'

/**
 * Gathers a value that another writer has stored with another type as a literal: JSON holds no bytes, and
 * SQLite writes a fraction into it with too few digits.
 */
const unlessOther = (column: string, isOwn: string, own = column): string =>
  `CASE WHEN ${column} IS NULL OR ${isOwn} THEN ${own} ELSE char(1) || quote(${column}) END`

const ofTypes =
  (...types: readonly string[]) =>
  (column: string, own = column): string =>
    unlessOther(column, `typeof(${column}) IN (${types.map((type) => `'${type}'`).join(', ')})`, own)

const ofText = (column: string): string => ofTypes('text')(column)
const ofInteger = ofTypes('integer')
const ofNumber = ofTypes('integer', 'real')

/** Returns a stored value as a literal. */
function literalOf(stored: unknown): StoredLiteral | undefined {
  if (stored instanceof Uint8Array) return StoredLiteral.ofBytes(stored)
  if (typeof stored !== 'string')
    return StoredLiteral.of(String(stored as number).replace('Infinity', '9e999'))
  return stored.startsWith(LITERAL) ? StoredLiteral.of(stored.slice(1)) : StoredLiteral.ofText(stored)
}

/** @param isOwn - true for a stored value that the kind compares by itself. */
const unlessLiteral = (
  isOwn: (stored: unknown) => boolean,
  exact: NonNullable<KindSql['exact']> = (stored) => stored,
) => ({
  exact: (stored: unknown, value: unknown, field: Facets) => {
    if (stored === null || stored === undefined) return value
    return isOwn(stored) ? exact(stored, value, field) : literalOf(stored)
  },
})

/** Decodes numbers alone. */
const ofNumbers =
  (decoder: KindSql['decoder']): KindSql['decoder'] =>
  (field) => {
    const decode = decoder(field)
    return (stored) => (typeof stored === 'number' ? decode(stored) : undefined)
  }

const isText = (stored: unknown): boolean => typeof stored === 'string' && !stored.startsWith(LITERAL)
const isNumber = (stored: unknown): boolean => typeof stored === 'number'

/** Integers of 32 bits, and 0 and 1 for booleans. */
const narrow = (
  of: Pick<KindSql, 'decoder'> & { readonly readable: (column: string) => string },
  inline: (value: string) => string,
) => ({
  ...of,
  ...unlessLiteral(isNumber, (stored, value) => (value === undefined ? literalOf(stored) : value)),
  decoder: ofNumbers(of.decoder),
  inline,
  readable: (column: string) => `typeof(${column}) = 'integer' AND ${of.readable(column)}`,
  gathered: (column: string) =>
    unlessOther(column, `typeof(${column}) = 'integer' AND ${of.readable(column)}`),
})

/** Numbers of floating point. @param inline - JavaScript that converts a number. */
const fraction = (inline: (value: string) => string, exact: (stored: number) => unknown) => ({
  ...READS.some,
  ...unlessLiteral(isNumber, (stored) => exact(stored as number)),
  decoder: ofNumbers(() => (stored) => stored),
  inline: (value: string) => `(typeof ${value} === 'number' ? ${inline(value)} : undefined)`,
  readable: (column: string) => `typeof(${column}) IN ('integer', 'real')`,
  holds: isInfinity,
})

/** Any column may contain a value of any type. */
const literal = (value: StoredLiteral): LiteralSql =>
  value.isNumber ? { sql: 'CAST(? AS NUMERIC)', value: value.text } : { sql: '?', value: value.value }

const isInt32 = (value: string): string => `((${value} | 0) === ${value} ? ${value} : undefined)`
const isUint32 = (value: string): string => `((${value} >>> 0) === ${value} ? ${value} : undefined)`
const isFlag = (value: string): string => `(${value} === 1 ? true : ${value} === 0 ? false : undefined)`

export interface SqliteKind extends KindSql {
  /** The types to which a value is cast when it is written and read. Undefined without a cast. */
  readonly casts?: { readonly written: string; readonly read: string }
}

const entry = (type: string, more: Partial<SqliteKind> = {}): SqliteKind =>
  boundBy({
    type: () => type,
    isText: false,
    keeps: () => false,
    placeholder: () => '?',
    value: bound,
    literal,
    selected: (column) => column,
    decoder: () => (value) => value,
    // `substr` returns NULL for an empty blob.
    beginning: (column, length) => `COALESCE(substr(${column}, 1, ${length}), ${column})`,
    ...more,
  })

/**
 * Returns true for integer affinity: https://www.sqlite.org/datatype3.html#determination_of_column_affinity
 */
function isInteger(_: unknown, type: string): boolean {
  return /INT/i.test(type)
}

/**
 * Binds and reads 64-bit integers as strings. `sqlite3` stores a bound bigint as NULL, and returns wrong
 * numbers beyond 2^53.
 */
const wide = (written: string, decoded = OF_BIGINT) => ({
  ...decoded,
  ...unlessLiteral((stored) => /^-?\d+$/.test(stored as string), decoded.exact),
  readable: (column: string, field: Facets) =>
    `typeof(${column}) = 'integer' AND ${decoded.readable(column, field)}`,
  exactAs: isInteger,
  casts: { written, read: 'TEXT' },
  placeholder: () => `CAST(? AS ${written})`,
  selected: (column: string, alias: string) => `CAST(${column} AS TEXT) AS ${alias}`,
  gathered: (column: string) => ofInteger(column, asText(column)),
})

const UINT64 = [0n, INT64[1]] as const

const isInfinity = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value)

export const sqliteKinds: Readonly<Record<keyof KindsSql, SqliteKind>> = kindsSqlOf({
  string: entry('TEXT', { ...OF_TEXT, isText: true, gathered: asText, inside: textInside }),
  date: entry('TEXT', {
    ...OF_DATE,
    ...unlessLiteral(isText),
    isText: true,
    gathered: ofText,
    readable: readableDate,
    holds: () => true,
  }),
  uuid: entry('TEXT', { ...OF_TEXT, isText: true, gathered: asText, holds: () => true }),
  enum: entry('TEXT', {
    ...OF_ENUM,
    ...unlessLiteral(isText),
    isText: true,
    gathered: ofText,
    readable: readableEnum,
    inside: nameInside,
  }),
  int32: entry('INTEGER', {
    ...OF_INT32,
    ...narrow(OF_INT32, isInt32),
    exactAs: isInteger,
    inside: integerInside,
  }),
  uint32: entry('INTEGER', {
    ...OF_UINT32,
    ...narrow(OF_UINT32, isUint32),
    exactAs: isInteger,
  }),
  int64: entry('INTEGER', wide('INTEGER')),
  uint64: entry('INTEGER', {
    // NUMERIC preserves numbers that INTEGER would limit to 2^63-1.
    ...wide('NUMERIC', OF_UNSIGNED_BIGINT),
    range: UINT64,
    encoder:
      ({ proto }) =>
      (value) => {
        if (BigInt(value as bigint | string) > UINT64[1])
          throw new InvalidArgument(proto, 'is above 2^63-1, the most SQLite can store')
        return bound(value as PlanValue)
      },
    keyEncoder: (value) => bound(value as PlanValue),
  }),
  float: entry('REAL', {
    ...fraction((value) => `Math.fround(${value})`, exactFloat),
    decoder: ofNumbers(() => (stored) => Math.fround(stored as number)),
    // Otherwise it would keep 64 bits, and a filter would not find the stored value.
    value: (value) => bound(typeof value === 'number' ? Math.fround(value) : value),
  }),
  double: entry('REAL', {
    ...fraction(
      (value) => value,
      (stored) => stored,
    ),
    // Inside of JSON it is read from its text, which may lose the last bit. The value it is compared with is
    // read in the same way.
    placeholder: ({ inside }) => (inside === undefined ? '?' : 'CAST(? AS REAL)'),
    value: (value, { inside }) => (inside === undefined ? bound(value) : String(value as number)),
    inside: doubleInside,
  }),
  decimal: entry('NUMERIC', {
    ...OF_DECIMAL,
    readable: readableDecimal,
    casts: { written: 'NUMERIC', read: 'TEXT' },
    placeholder: () => 'CAST(? AS NUMERIC)',
    selected: (column, alias) => `${ofNumber(column, asText(column))} AS ${alias}`,
    gathered: (column) => ofNumber(column, asText(column)),
    ...unlessLiteral(isText, OF_DECIMAL.exact),
    encoder: (field) => (value) => {
      const text = decimalText(value, field)
      if (text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length > 15)
        throw new InvalidArgument(field.proto, 'has more than 15 digits, the most SQLite can store exactly')
      return text
    },
  }),
  bool: entry('INTEGER', {
    ...OF_FLAG,
    ...narrow(OF_FLAG, isFlag),
    inside: booleanInside,
  }),
  timestamp: entry('TEXT', {
    gathered: ofText,
    value: (value) => (typeof value === 'bigint' ? isoMillis(value) : bound(value)),
    ...READS.some,
    decoder: () => storedTime,
    // It compares the texts.
    ...unlessLiteral(isText, (stored, value) =>
      value instanceof Date && value.toJSON() === stored ? value : stored,
    ),
    readable: readableTime,
    // It compares the texts: one with more digits stands between them.
    millisecond: (time) => [time.toISOString().slice(0, -1), time.toISOString()],
    holds: () => true,
  }),
  bytes: entry('BLOB', {
    ...READS.some,
    zero: `x''`,
    decoder: () => (value) => (value instanceof Uint8Array ? new Uint8Array(value) : undefined),
    // Sort orders compare the beginning, which is text unless it is bytes.
    exact: (stored, value) =>
      stored === null || value !== undefined
        ? value
        : StoredLiteral.ofText(String(stored as number | string)),
    readable: (column) => `typeof(${column}) = 'blob'`,
  }),
  json: entry('TEXT', {
    ...OF_JSON,
    gathered: asText,
    readable: readableList,
    managed: (options, field, isExisting) => (isExisting ? noArrays(options, field) : undefined),
  }),
  tags: entry('TEXT', { ...OF_JSON, gathered: asText }),
  any: entry('TEXT', { holds: isInfinity }),
})
