import type { PlanValue } from '../../query/query-plan.js'
import { decimalText } from '../../../resource/kinds/fractions.js'
import { INT64 } from '../../../resource/kinds/integers.js'
import { InvalidArgument } from '../../../errors.js'
import { type BoundValue, isoMillis } from '../values/bound-value.js'
import { bufferOf } from '../values/buffer-of.js'
import {
  boundBy,
  type Decode,
  type KindSql,
  type KindsSql,
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
  OF_NUMBER,
  OF_TEXT,
  READS,
  type StoredField,
} from '../values/kind-sql.js'
import { storedTime } from '../values/stored-time.js'
import { readableDate, readableDecimal, readableEnum, readableList, readableTime } from './readable.js'
import { booleanInside, doubleInside, integerInside, nameInside, textInside } from './json.js'

function bound(value: PlanValue): BoundValue {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return value
  return value instanceof Date ? value.toISOString() : bufferOf(value)
}

/**
 * Values are cast before they are combined, because other writers may have stored a different type. Bytes are
 * not combined, since JSON cannot contain them, nor are fractions, which SQLite writes to JSON with too few
 * digits.
 */
const asText = (column: string): string => `CAST(${column} AS TEXT)`
const asNumber = (column: string): string => `CAST(${column} AS NUMERIC)`

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
  decoder: (field: StoredField): Decode => {
    const decode = decoded.decoder(field)
    // The column may contain other strings.
    return (value) => (/^-?\d+$/.test(value as string) ? decode(value) : undefined)
  },
  exactAs: isInteger,
  casts: { written, read: 'TEXT' },
  placeholder: () => `CAST(? AS ${written})`,
  selected: (column: string, alias: string) => `CAST(${column} AS TEXT) AS ${alias}`,
  gathered: asText,
})

const UINT64 = [0n, INT64[1]] as const

const isInfinity = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value)

export const sqliteKinds: Readonly<Record<keyof KindsSql, SqliteKind>> = {
  string: entry('TEXT', { ...OF_TEXT, isText: true, gathered: asText, inside: textInside }),
  date: entry('TEXT', {
    ...OF_DATE,
    isText: true,
    gathered: asText,
    readable: readableDate,
    holds: () => true,
  }),
  uuid: entry('TEXT', { ...OF_TEXT, isText: true, gathered: asText, holds: () => true }),
  enum: entry('TEXT', {
    ...OF_ENUM,
    isText: true,
    gathered: asText,
    readable: readableEnum,
    inside: nameInside,
  }),
  int32: entry('INTEGER', {
    ...OF_INT32,
    holds: () => true,
    exactAs: isInteger,
    gathered: asNumber,
    inside: integerInside,
  }),
  uint32: entry('INTEGER', { ...OF_UINT32, holds: () => true, exactAs: isInteger, gathered: asNumber }),
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
  duration: entry('INTEGER', wide('INTEGER')),
  float: entry('REAL', {
    ...READS.all,
    // Without rounding, SQLite would store 64 bits and a filter would not find the value.
    value: (value) => bound(typeof value === 'number' ? Math.fround(value) : value),
    decoder: () => (value) => Math.fround(Number(value)),
    holds: isInfinity,
  }),
  double: entry('REAL', {
    ...OF_NUMBER,
    // SQLite parses a number in JSON from its string, which may lose the last bit. The compared value is
    // parsed in the same way.
    placeholder: ({ inside }) => (inside === undefined ? '?' : 'CAST(? AS REAL)'),
    value: (value, { inside }) => (inside === undefined ? bound(value) : String(value)),
    holds: isInfinity,
    inside: doubleInside,
  }),
  decimal: entry('NUMERIC', {
    ...OF_DECIMAL,
    readable: readableDecimal,
    casts: { written: 'NUMERIC', read: 'TEXT' },
    placeholder: () => 'CAST(? AS NUMERIC)',
    selected: (column, alias) => `CAST(${column} AS TEXT) AS ${alias}`,
    gathered: asText,
    encoder: (field) => (value) => {
      const text = decimalText(value, field)
      if (text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length > 15)
        throw new InvalidArgument(field.proto, 'has more than 15 digits, the most SQLite can store exactly')
      return text
    },
  }),
  bool: entry('INTEGER', {
    ...OF_FLAG,
    gathered: asNumber,
    inside: booleanInside,
  }),
  timestamp: entry('TEXT', {
    gathered: asText,
    value: (value) => (typeof value === 'bigint' ? isoMillis(value) : bound(value)),
    ...READS.some,
    decoder: () => storedTime,
    readable: readableTime,
    // SQLite compares strings, so a cursor needs the stored one.
    exact: (stored, value) => {
      if (stored === null || stored === undefined) return value
      return value instanceof Date && value.toJSON() === stored ? value : stored
    },
    // SQLite compares strings. One with more digits sorts between these two.
    millisecond: (time) => [time.toISOString().slice(0, -1), time.toISOString()],
    holds: () => true,
  }),
  bytes: entry('BLOB', {
    ...READS.all,
    zero: `x''`,
    decoder: () => (value) => new Uint8Array(value as Buffer),
  }),
  json: entry('TEXT', {
    ...OF_JSON,
    gathered: asText,
    readable: readableList,
    managed: (options, field, isExisting) => (isExisting ? noArrays(options, field) : undefined),
  }),
  tags: entry('TEXT', { ...OF_JSON, gathered: asText }),
  any: entry('TEXT', { holds: isInfinity }),
}
