import { InvalidArgument } from '../../../errors.js'
import { decimalText } from '../../../resource/kinds/fractions.js'
import { ofBytes } from '../../../resource/kinds/uuid.js'
import type { Facets } from '../../../resource/kinds/kind.js'
import type { StoredLiteral } from '../../../resource/kinds/stored-literal.js'
import type { PlanValue } from '../../query/query-plan.js'
import { type BoundValue, isoMicros, lastMicrosecond } from '../values/bound-value.js'
import { bufferOf } from '../values/buffer-of.js'
import {
  boundBy,
  digitsOf,
  ENUM_LENGTH,
  NO_NAMES,
  noArrays,
  type KindSql,
  type KindsSql,
  kindsSqlOf,
  type LiteralSql,
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
} from '../values/kind-sql.js'
import { isProcessInUtc } from '../values/process-zone.js'
import { exactMicros, storedTime } from '../values/stored-time.js'
import { isMysqlTime } from './is-mysql-time.js'
import { mysqlLiteral } from './default-text.js'
import { readableDecimal, readableEnum, readableList, readableTime } from './readable.js'
import { booleanInside, nameInside, numberInside, textInside } from './json.js'

/** Converts an ISO string in UTC to a MySQL datetime. */
const datetime = (iso: string): string => iso.slice(0, -1).replace('T', ' ')

/** True if the driver's time zone is UTC. Without an option, it is the process's time zone. */
function isUtc(timezone: unknown): boolean {
  if (timezone !== undefined && timezone !== 'local') return timezone === 'Z' || timezone === '+00:00'
  return isProcessInUtc()
}

function bound(value: PlanValue): BoundValue {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return value
  return value instanceof Date ? `${datetime(value.toISOString())}000` : bufferOf(value as Uint8Array)
}

const entry = (type: string, more: Partial<KindSql> = {}): KindSql =>
  boundBy({
    type: () => type,
    isText: false,
    keeps: () => false,
    placeholder: () => '?',
    value: bound,
    selected: (column) => column,
    decoder: () => (value) => value,
    beginning: (column, length) => `LEFT(${column}, ${length})`,
    ...more,
  })

/** The length that TypeORM gives a string column on this engine by default. */
const DEFAULT_LENGTH = 255

const varchar = (length: number | undefined): string =>
  length === undefined ? 'longtext' : `varchar(${length})`

/** True for a signed integer type; the catalog's name does not contain the sign. */
function isInteger(_: Facets, type: string): boolean {
  return /^(?:small|medium|big)?int$/.test(type)
}

/** The digits that a DECIMAL of the most digits has before the point. */
const DIGITS = /^-?\d{1,35}(?:\.\d{1,30})?$/

const LITERAL = {
  literal: ({ text }: StoredLiteral): LiteralSql | undefined =>
    DIGITS.test(text) ? { sql: 'CAST(? AS DECIMAL(65,30))', value: text } : undefined,
}

/** Binds a 64-bit integer as a string: MySQL would compare a number as a double. */
const SIGNED = { ...OF_BIGINT, ...LITERAL, placeholder: () => 'CAST(? AS SIGNED)', exactAs: isInteger }

/** A key can be declared as `binary(16)`. */
const uuidKind = entry('varchar(36)', {
  ...OF_TEXT,
  type: ({ stored }) => stored ?? 'varchar(36)',
  isText: true,
  keeps: ({ stored }, live) => stored === undefined && live === 'char(36)',
  exactAs: ({ stored }, type) => {
    if (stored !== undefined) return type === 'binary'
    // The engine's native type stores a single form of each value.
    return type === 'uuid' ? true : undefined
  },
  holds: () => true,
  otherFormat({ stored, otherFormats }, column) {
    if (stored !== undefined || otherFormats === undefined) return undefined
    const text = `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin`
    const hex = `LOWER(REPLACE(REPLACE(REPLACE(${column}, '-', ''), '{', ''), '}', ''))`
    const withHyphens = [21, 17, 13, 9].reduce((before, at) => `INSERT(${before}, ${at}, 0, '-')`, hex)
    return {
      condition: `${hex} REGEXP '^[0-9a-f]{32}$' AND ${text} NOT REGEXP '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`,
      canonical: withHyphens,
    }
  },
  textOf: ({ stored, otherFormats }) =>
    stored === undefined && otherFormats !== undefined
      ? (value) => `CAST(CAST(${value} AS CHAR) AS BINARY)`
      : undefined,
  keyText: (column, { stored }) => (stored === undefined ? column : `LOWER(HEX(${column}))`),
  value: (value, { stored }) => (stored === undefined ? bound(value) : uuidBytes(value)),
  encoder: ({ stored }) => (stored === undefined ? undefined : uuidBytes),
  decoder: ({ stored }) =>
    stored === undefined ? (value) => value : (value) => ofBytes(value as Uint8Array),
})

function uuidBytes(value: unknown): Buffer {
  return Buffer.from((value as string).replaceAll('-', ''), 'hex')
}

/** Rejects enumerations: rows are sorted by position but compared as strings, so pages would omit rows. */
function byEnumeration(type: string): string | undefined {
  return type === 'enum' || type === 'set'
    ? 'sorts values by position, and stores the text of a number as the value at that position'
    : undefined
}

export const mysqlKinds: KindsSql = kindsSqlOf({
  string: entry('longtext', {
    ...OF_TEXT,
    isText: true,
    type: ({ maxLength, hasEngineLength }) => varchar(hasEngineLength === true ? DEFAULT_LENGTH : maxLength),
    alteredBy: byEnumeration,
    // A `char` drops trailing spaces. For any other type the collation decides.
    exactAs: (_, type) => (type === 'char' ? false : undefined),
    inside: textInside,
  }),
  date: entry('date', {
    ...OF_DATE,
    exactAs: (_, type) => type === 'date',
    readable: readableTime,
    holds: (value) => typeof value === 'string' && isMysqlTime(value),
  }),
  uuid: uuidKind,
  enum: entry('longtext', {
    ...OF_ENUM,
    isText: true,
    readable: readableEnum,
    alteredBy: (type, { enumNames }) =>
      enumNames?.labels?.type === undefined ? byEnumeration(type) : undefined,
    type: ({ maxLength = ENUM_LENGTH, enumNames: { labels } = NO_NAMES }) =>
      labels?.type === undefined
        ? varchar(maxLength)
        : `enum(${[...labels.numberOf.keys()].map(mysqlLiteral).join(',')})`,
    keeps: ({ enumNames }, live) => enumNames?.labels?.type !== undefined && live.startsWith('enum('),
    // An enumeration sorts by position unless it is cast.
    ordered: (column, { enumNames }) =>
      enumNames?.labels?.type === undefined ? undefined : `CAST(${column} AS BINARY)`,
    inside: nameInside,
  }),
  int32: entry('int', {
    ...OF_INT32,
    ...LITERAL,
    keeps: (_, live) => /^(?:tiny|small|medium|big)int(?:\(\d+\))?$/.test(live),
    type: ({ stored }) => stored ?? 'int',
    exactAs: isInteger,
    inside: numberInside,
  }),
  uint32: entry('int unsigned', {
    ...OF_UINT32,
    ...LITERAL,
    keeps: (_, live) => /^(?:tiny|small|medium|big)int(?:\(\d+\))? unsigned$/.test(live),
    type: ({ stored }) => `${stored ?? 'int'} unsigned`,
    exactAs: isInteger,
  }),
  int64: entry('bigint', SIGNED),
  uint64: entry('bigint unsigned', {
    ...OF_UNSIGNED_BIGINT,
    ...LITERAL,
    placeholder: () => 'CAST(? AS UNSIGNED)',
    exactAs: isInteger,
  }),
  float: entry('float', {
    ...READS.all,
    value: (value) => bound(typeof value === 'number' ? Math.fround(value) : value),
    decoder: () => (value) => Math.fround(Number(value)),
  }),
  double: entry('double', { ...OF_NUMBER, inside: numberInside }),
  decimal: entry('decimal', {
    ...OF_DECIMAL,
    ...LITERAL,
    readable: readableDecimal,
    type: (field) => `decimal${digitsOf(field, '(10,0)')}`,
    // MySQL would compare a string as a double.
    placeholder: () => 'CAST(? AS DECIMAL(65,30))',
    encoder: (field) => (value) => {
      const text = decimalText(value, field)
      // A column without a scale would round the value.
      if (field.decimal?.precision === undefined && text.includes('.'))
        throw new InvalidArgument(field.proto, 'has digits after the point, but its column states no scale')
      return text
    },
  }),
  bool: entry('tinyint(1)', {
    ...OF_FLAG,
    ...LITERAL,
    keeps: (_, live) => /^tinyint(?:\(\d+\))?$/.test(live),
    alteredBy: (type) =>
      type === 'bit' ? 'is read as bytes by the driver, so true is read as false' : undefined,
    inside: booleanInside,
  }),
  timestamp: entry('datetime(6)', {
    value: (value) => (typeof value === 'bigint' ? datetime(isoMicros(value)) : bound(value)),
    ...READS.some,
    decoder: () => storedTime,
    readable: readableTime,
    managed: ({ timezone }) =>
      isUtc(timezone)
        ? undefined
        : {
            what: "reads and writes times in this process's zone, but repositories use UTC",
            advice: "set timezone: 'Z' in the options of the DataSource",
          },
    exact: exactMicros,
    millisecond: (time) => [bound(time), datetime(lastMicrosecond(time))],
    holds: (value) => typeof value === 'string' && isMysqlTime(value),
  }),
  bytes: entry('longblob', {
    ...READS.all,
    // A `binary` column pads values with zeros.
    keeps: (_, live) => /^(?:(?:tiny|medium)?blob|varbinary\(\d+\))$/.test(live),
    zero: `x''`,
    decoder: () => (value) => new Uint8Array(value as Buffer),
  }),
  json: entry('json', {
    ...OF_JSON,
    type: ({ list }) => (list?.as === 'commas' ? 'longtext' : 'json'),
    readable: readableList,
    managed: noArrays,
    keeps: ({ list }, live) =>
      /^(?:medium|long)?text$/.test(live) || (list?.as === 'commas' && /^varchar\(\d+\)$/.test(live)),
  }),
  tags: entry('json', OF_JSON),
  any: entry('longtext'),
})
