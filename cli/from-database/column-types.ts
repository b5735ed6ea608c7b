import type { CatalogColumn, CatalogType } from './database-catalog.js'

/** The type of a column in TypeORM and in the property. */
export interface ColumnType {
  /** The column type, or the element type of an array. */
  readonly type: string
  readonly isArray: boolean
  /** The TypeScript type of the property. */
  readonly property: string
  /** The class that the compiler emits as the property's type. */
  readonly design: Function
  readonly enumeration: CatalogType | undefined
  /** True if repositories can store the values. Otherwise only TypeORM manages the column. */
  readonly isStorable: boolean
}

type Plain = readonly [property: string, design: Function]

const TEXT: Plain = ['string', String]
const NUMBER: Plain = ['number', Number]
const TIME: Plain = ['Date', Date]
const OTHER: Plain = ['unknown', Object]

/** TypeORM's names of PostgreSQL types whose catalog name differs. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ int2: 'smallint', int4: 'integer', int8: 'bigint', float4: 'real', float8: 'double precision' },
    ...{ bool: 'boolean', bpchar: 'char' },
  }),
)

const PLAIN: ReadonlyMap<string, Plain> = new Map(
  Object.entries<Plain>({
    ...{ int2: NUMBER, int4: NUMBER, float4: NUMBER, float8: NUMBER, int8: TEXT, numeric: TEXT, money: TEXT },
    ...{
      varchar: TEXT,
      bpchar: TEXT,
      text: TEXT,
      citext: TEXT,
      uuid: TEXT,
      date: TEXT,
      time: TEXT,
      timetz: TEXT,
    },
    ...{ bool: ['boolean', Boolean], timestamp: TIME, timestamptz: TIME, bytea: ['Buffer', Buffer] },
    ...{ json: OTHER, jsonb: OTHER, hstore: OTHER, interval: OTHER, point: OTHER, circle: OTHER },
    ...{
      inet: TEXT,
      cidr: TEXT,
      macaddr: TEXT,
      macaddr8: TEXT,
      xml: TEXT,
      jsonpath: TEXT,
      bit: TEXT,
      varbit: TEXT,
    },
    ...{ line: TEXT, lseg: TEXT, box: TEXT, path: TEXT, polygon: TEXT, tsvector: TEXT, tsquery: TEXT },
    ...{ int4range: TEXT, int8range: TEXT, numrange: TEXT, tsrange: TEXT, tstzrange: TEXT, daterange: TEXT },
    ...{ geometry: OTHER, geography: OTHER, cube: OTHER, ltree: TEXT },
  }),
)

const STORABLE: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'varchar', 'bpchar', 'text', 'uuid', 'date'],
  ...['bool', 'timestamp', 'timestamptz', 'bytea', 'json', 'jsonb'],
])

/** Returns the type of a column; undefined if TypeORM has none. */
export function columnType(column: CatalogColumn, types: readonly CatalogType[]): ColumnType | undefined {
  const { element, typeKind, typeId } = column
  const isArray = element !== null
  const type = element ?? column.type
  const enumeration = typeKind === 'e' ? types.find(({ id }) => id === typeId) : undefined
  if (typeKind === 'e' && enumeration === undefined) return undefined
  const [property, design] =
    enumeration === undefined ? (PLAIN.get(type) ?? []) : [union(enumeration.labels), String]
  if (property === undefined || design === undefined) return undefined
  const isUnion = property.includes('|')
  return {
    type: enumeration === undefined ? (NAMES.get(type) ?? type) : 'enum',
    isArray,
    property: isArray ? `${isUnion ? `(${property})` : property}[]` : property,
    design: isArray ? Array : design,
    enumeration,
    isStorable: enumeration !== undefined || STORABLE.has(type),
  }
}

const union = (labels: readonly string[]): string => labels.map(quoted).join(' | ')

/** Formats a TypeScript string literal, in single quotes unless they would need escapes. */
export function quoted(text: string): string {
  const double = JSON.stringify(text)
  return text.includes("'") ? double : `'${double.slice(1, -1).replaceAll('\\"', '"')}'`
}

/** Decodes the length, precision and scale in a column's type modifier. */
export function columnSize({ type, element, modifier }: CatalogColumn): Readonly<Record<string, number>> {
  if (modifier < 0) return {}
  const name = element ?? type
  if (name === 'varchar' || name === 'bpchar') return { length: modifier - HEADER }
  if (name === 'numeric') {
    const digits = modifier - HEADER
    return { precision: (digits >> 16) & 0xffff, scale: digits & 0x7ff }
  }
  return /^time/.test(name) ? { precision: modifier } : {}
}

/** The number that PostgreSQL adds to a type modifier. */
const HEADER = 4

const INTEGERS: ReadonlySet<string> = new Set(['int2', 'int4'])
const STRINGS: ReadonlySet<string> = new Set(['varchar', 'bpchar', 'text'])

/** Returns the value of a literal default; undefined for an expression. */
export function literalDefault({
  type,
  typeKind,
  element,
  default: sql,
}: CatalogColumn): string | number | boolean | undefined {
  if (sql === null || element !== null) return undefined
  if (type === 'bool' && /^(true|false)$/.test(sql)) return sql === 'true'
  const [, number] = /^\(?'?(-?\d+)'?\)?(?:::\w+)?$/.exec(sql) ?? []
  if (INTEGERS.has(type) && number !== undefined) return Number(number)
  const [, text] = /^'((?:[^']|'')*)'(?:::[\w ."()]+)?$/.exec(sql) ?? []
  return text !== undefined && (STRINGS.has(type) || typeKind === 'e')
    ? text.replaceAll("''", "'")
    : undefined
}
