import type { EnumType } from '../../../resource/enums/enum-names.js'
import type { Facets, ListForm } from '../../../resource/kinds/kind.js'
import type { StoredLiteral } from '../../../resource/kinds/stored-literal.js'
import { isUuid, uuid } from '../../../resource/kinds/uuid.js'
import { checkValue } from '../../../resource/values/check-value.js'
import type { PlanValue } from '../../query/query-plan.js'
import { type BoundValue, isoMicros, lastMicrosecond } from '../values/bound-value.js'
import { bufferOf } from '../values/buffer-of.js'
import {
  boundBy,
  type Decode,
  digitsOf,
  ENUM_LENGTH,
  exactFloat,
  type KindSql,
  type KindsSql,
  kindsSqlOf,
  type LiteralSql,
  OF_BIGINT,
  OF_DATE,
  OF_DECIMAL,
  OF_ENUM,
  OF_INT32,
  OF_UINT32,
  OF_UNSIGNED_BIGINT,
  OF_JSON,
  OF_TEXT,
  READS,
} from '../values/kind-sql.js'
import { arrayElements, arraySelected, arrayText } from './arrays.js'
import { bytesOfHex, doubleOfHex } from './hex.js'
import { quoted } from '../values/quoted.js'
import { isPostgresTime } from './is-postgres-time.js'
import { booleanInside, nameInside, numberInside, textInside } from './json.js'
import { readableDate, readableDecimal, readableEnum, readableList, readableTime } from './readable.js'
import { exactTimeOf, numberedTime, timeOf } from './time-numbers.js'

/** An alias that no column has. ORDER BY would resolve a column's name to the select list first. */
const HEX = '"(hex)"'

function bound(value: PlanValue): BoundValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return value
  return value instanceof Date ? value.toISOString() : bufferOf(value as Uint8Array)
}

/**
 * Checks the format of a UUID.
 *
 * @throws InvalidArgument if the UUID has a different format.
 */
function canonicalUuid(proto: string, value: unknown): unknown {
  checkValue(
    { property: proto, proto, kind: uuid.name, nullable: true, maxLength: undefined, repeated: false },
    value,
  )
  return value
}

const asText = (column: string): string => `${column}::text`
const asIs = (column: string): string => column

/**
 * Returns an entry for a PostgreSQL type.
 *
 * @param type - the type as a statement names it.
 * @param kept - other types, as the catalog names them, that store every value exactly.
 */
const entry = (type: string, more: Partial<KindSql>, ...kept: readonly string[]): KindSql =>
  boundBy({
    type: () => type,
    isText: false,
    arrayType: () => `${type}[]`,
    keeps: (_, live) => live === type || kept.includes(live),
    placeholder: (_, index) => `$${index}`,
    value: bound,
    selected: asIs,
    // Decoders expect the server's string format.
    gathered: asText,
    decoder: () => asStored,
    beginning: (column, length) => `LEFT(${column}, ${length})`,
    ...more,
  })

const asStored = (value: unknown): unknown => value

/**
 * Matches a string type with an optional length. A column that is shorter than its field would truncate
 * trailing spaces without an error.
 */
const VARCHAR = /^character varying(?:\((\d+)\))?$/

const varchar = (length: number | undefined): string => (length === undefined ? 'text' : `varchar(${length})`)

const TEXT = {
  isText: true,
  gathered: asIs,
  keeps: ({ maxLength = Infinity }: Facets, live: string) => {
    const found = VARCHAR.exec(live)
    if (found === null) return live === 'text'
    return found[1] === undefined || Number(found[1]) >= maxLength
  },
} satisfies Partial<KindSql>

/**
 * Selects bytes and floats as hexadecimal strings. Their default format depends on session settings
 * (`bytea_output`, `extra_float_digits`), and behind a transaction pooler any session may run a statement.
 */
const FRACTION = {
  ...READS.all,
  selected: (column: string) => `encode(float8send(${column}), 'hex') AS ${HEX}`,
  gathered: (column: string) => `encode(float8send(${column}), 'hex')`,
  decoder: () => doubleOfHex,
  holds: () => true,
} satisfies Partial<KindSql>

/** The numbers that `numeric` holds without an error. */
const NUMERIC = /^-?(?:\d{1,131072}(?:\.\d{1,16383})?|Infinity)$|^NaN$/
const isDouble = (text: string): boolean => String(Number(text)) === text

/** A number that the field cannot hold is compared without an error, whatever the type of the column. */
const literalIf = (isHeld: (text: string) => boolean) => ({
  literal: ({ text }: StoredLiteral, index: number): LiteralSql | undefined =>
    isHeld(text) ? { sql: `$${index}::numeric`, value: text } : undefined,
})
const LITERAL = literalIf((text) => NUMERIC.test(text) || isDouble(text))

const narrow = ({ stored }: Facets): string => stored ?? 'integer'
/** Returns the type of unsigned 16-bit numbers, because a smallint cannot hold all of them. */
const narrowUnsigned = ({ stored }: Facets): string => (stored === undefined ? 'bigint' : 'integer')

/** Returns the SQL of a kind whose columns may have different types. */
const typed = (type: (field: Facets) => string) => ({
  type,
  arrayType: (field: Facets) => `${type(field)}[]`,
})

export const postgresKinds: KindsSql = kindsSqlOf({
  string: entry('text', {
    ...TEXT,
    ...OF_TEXT,
    type: ({ maxLength }) => varchar(maxLength),
    catalogType: ({ maxLength }) => catalogText(varchar(maxLength)),
    inside: textInside,
  }),
  date: entry('date', {
    ...OF_DATE,
    exactAs: (_, type) => type === 'date',
    readable: readableDate,
    holds: (value) => typeof value === 'string' && isPostgresTime(value),
  }),
  uuid: entry('uuid', {
    ...OF_TEXT,
    exactAs: (_, type) => type === 'uuid',
    // The type accepts UUIDs in every format, so one row would have several names.
    value: (value) => (isUuid(value) ? value : null) as BoundValue,
    encoder: ({ proto, otherFormats }) =>
      otherFormats === undefined ? undefined : (value) => canonicalUuid(proto, value),
    keyEncoder: (value) => (isUuid(value) ? value : null),
  }),
  enum: entry('text', {
    ...TEXT,
    ...OF_ENUM,
    ...typed(enumeration),
    readable: readableEnum,
    catalogType: (field) => catalogText(catalogEnum(field) ?? enumeration(field)),
    keeps: (field, live) => {
      const type = typeOf(field)
      return type === undefined ? TEXT.keeps(field, live) : isType(live, type)
    },
    gathered: (column, field) => (typeOf(field) === undefined ? column : asText(column)),
    // An enum type of the engine sorts by position and has no collation.
    ordered: (column, field) => (typeOf(field) === undefined ? undefined : `${asText(column)} COLLATE "C"`),
    inside: nameInside,
  }),
  int32: entry(
    'integer',
    {
      ...OF_INT32,
      ...LITERAL,
      ...typed(narrow),
      exactAs: ({ stored }, type) =>
        type === 'int4' || type === 'int8' || (stored !== undefined && type === 'int2'),
      inside: numberInside,
    },
    'smallint',
    'bigint',
  ),
  uint32: entry(
    'bigint',
    {
      ...OF_UINT32,
      ...LITERAL,
      ...typed(narrowUnsigned),
      exactAs: ({ stored }, type) => type === 'int8' || (stored !== undefined && type === 'int4'),
    },
    'integer',
  ),
  int64: entry('bigint', {
    ...OF_BIGINT,
    ...LITERAL,
    exactAs: (_, type) => type === 'int8' || type === 'numeric',
  }),
  uint64: entry(
    'numeric(20)',
    {
      ...OF_UNSIGNED_BIGINT,
      ...LITERAL,
      catalogType: () => 'numeric(20,0)',
      exactAs: (_, type) => type === 'numeric',
    },
    'bigint',
    'numeric(20,0)',
  ),
  float: entry(
    'real',
    {
      ...FRACTION,
      ...literalIf(isDouble),
      value: (value) => bound(typeof value === 'number' ? Math.fround(value) : value),
      exact: (stored, value) => (stored === null ? value : exactFloat(doubleOfHex(stored))),
    },
    'double precision',
  ),
  double: entry('double precision', { ...FRACTION, inside: numberInside }),
  decimal: entry('numeric', {
    ...OF_DECIMAL,
    type: (field) => `numeric${digitsOf(field)}`,
    arrayType: () => 'numeric[]',
    ...LITERAL,
    readable: readableDecimal,
    keeps: (field, live) => live === 'numeric' || live === `numeric${digitsOf(field)}`,
  }),
  bool: entry('boolean', {
    ...READS.all,
    gathered: (column) => `left(${column}::text, 1)`,
    decoder: () => (value) => value === 't',
    inline: (value) => `${value} === 't'`,
    inside: booleanInside,
  }),
  timestamp: entry(
    'timestamptz',
    {
      catalogType: () => 'timestamp with time zone',
      value: (value) => (typeof value === 'bigint' ? isoMicros(value) : bound(value)),
      // The column may also be a string column with times.
      gathered: (column) => `${column}::timestamptz`,
      numbered: numberedTime,
      ...READS.some,
      decoder: () => timeOf,
      readable: readableTime,
      exact: exactTimeOf,
      millisecond: (time) => [time.toISOString(), lastMicrosecond(time)],
      holds: (value) => typeof value === 'string' && isPostgresTime(value),
    },
    'timestamp with time zone',
    'timestamp(3) with time zone',
    'timestamp(6) with time zone',
  ),
  bytes: entry('bytea', {
    ...READS.all,
    zero: `''::bytea`,
    byteLength: (column) => `octet_length(${column})`,
    selected: (column) => `encode(${column}, 'hex') AS ${HEX}`,
    gathered: (column) => `encode(${column}, 'hex')`,
    decoder: () => bytesOfHex,
    beginning: (column, length) => `substring(${column} from 1 for ${length})`,
  }),
  json: entry('jsonb', {
    ...OF_JSON,
    type: ({ list }) => typeOfArray(list, 'type') ?? (list === undefined ? 'jsonb' : 'text'),
    catalogType: ({ list }) => typeOfArray(list, 'catalogType') ?? (list === undefined ? 'jsonb' : 'text'),
    arrayType: ({ list }) => (list === undefined ? 'jsonb[]' : 'text[]'),
    selected: (column, _, { list }) => (list?.as === 'array' ? arraySelected(column, list.element) : column),
    gathered: (column, { list }) =>
      list?.as === 'array' ? arraySelected(column, list.element) : asText(column),
    passedAs: ({ list }) => typeOfArray(list, 'type'),
    filler: ({ list }) => (list?.as === 'array' ? '{}' : undefined),
    readable: (column, field) =>
      readableList(column, field, (value, element) => postgresKinds[element.kind].readable?.(value, element)),
    encoder: (field) => {
      const { list, json } = field
      if (list?.as !== 'array') return json?.encode
      return (value) => arrayText(JSON.parse(json?.encode(value) as string) as unknown[], list.element)
    },
    decoder: (field) => {
      const { list, json } = field
      if (list?.as !== 'array') return json?.decode as Decode
      return (stored) => json?.decode(JSON.stringify(arrayElements(stored as string, list.element)))
    },
    keeps: ({ list }, live) => {
      if (list?.as === 'array')
        return (
          live.endsWith('[]') &&
          postgresKinds[list.element.kind].keeps(list.element, live.slice(0, -'[]'.length))
        )
      return list === undefined ? ['jsonb', 'json', 'text'].includes(live) : TEXT.keeps({}, live)
    },
  }),
  tags: entry('jsonb', OF_JSON, 'json'),
  any: entry('text', { holds: () => true }),
})

/** Returns the type of an array column, or undefined if the list is stored in another form. */
function typeOfArray(list: ListForm | undefined, by: 'type' | 'catalogType'): string | undefined {
  if (list?.as !== 'array') return undefined
  const { element } = list
  const kind = postgresKinds[element.kind]
  return `${(kind[by] ?? kind.type)(element)}[]`
}

const typeOf = ({ enumNames }: Facets): EnumType | undefined => enumNames?.labels?.type

function enumeration(field: Facets): string {
  const type = typeOf(field)
  if (type === undefined) return varchar(field.maxLength ?? ENUM_LENGTH)
  const parts = type.schema === undefined ? [type.name] : [type.schema, type.name]
  return parts.map((part) => quoted(part, '"')).join('.')
}

/**
 * Returns the catalog's name of an enum type: quoted if necessary, and without the schema if it is on the
 * search path.
 */
function catalogEnum(field: Facets): string | undefined {
  const name = typeOf(field)?.name
  return name === undefined || /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoted(name, '"')
}

/** Returns true if the catalog's name, with or without schema and quotes, is the type's. */
function isType(live: string, { name }: EnumType): boolean {
  return [name, quoted(name, '"')].some((one) => live === one || live.endsWith(`.${one}`))
}

function catalogText(type: string): string {
  return type.replace(/^varchar/, 'character varying')
}
