import { createHash } from 'node:crypto'
import type { ColumnOptions } from 'typeorm'
import { facetsOf } from '../../resource/facets/facets.js'
import { kindOfColumn } from '../../resource/kinds/declared-kind.js'
import { string } from '../../resource/kinds/text.js'
import type { SpecialIndex } from '../../resource/typeorm/special-index.js'
import type { InternalColumn, InternalTable } from '../../resource/typeorm/internal-columns.js'
import type { ColumnDefinition, IndexDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { constantText } from '../dialects/values/constant-text.js'
import { indexName } from './index-name.js'

/**
 * Returns the columns that TypeORM manages, as TypeORM would create them. A comparison only checks that they
 * exist.
 */
export const internalDefinitions = (
  { columns }: InternalTable,
  dialect: Dialect,
): readonly ColumnDefinition[] => columns.map((column) => definitionOf(column, dialect))

export const internalIndexes = (
  { indexes }: InternalTable,
  table: string,
  dialect: Dialect,
): readonly IndexDefinition[] =>
  indexes
    .filter(({ isMade }) => isMade)
    .map(({ columns, unique, name, ...special }) => ({
      name: name ?? indexName(table, [...columns, ...partOf(special)], unique ? 'key' : 'idx'),
      columns,
      unique,
      where: undefined,
      ...specialOf(special, dialect),
    }))

/**
 * Returns the parts of an index other than its columns, if the engine supports them. On other engines TypeORM
 * omits them, too.
 */
export function specialOf(
  { where, method: declared, parser }: SpecialIndex,
  { can, ddl }: Dialect,
): Partial<IndexDefinition> {
  const method = declared === undefined ? undefined : ddl.indexMethods.of(declared)
  return {
    ...(where !== undefined && can.partialIndexes && { where, hasOwnWhere: true as const }),
    ...(method !== undefined && { method, ...(parser !== undefined && { parser }) }),
  }
}

/** Returns a name part that distinguishes a partial index from a full one. */
export const partOf = ({ where }: SpecialIndex): readonly string[] =>
  where === undefined ? [] : [createHash('sha256').update(where).digest('hex').slice(0, 8)]

function definitionOf({ column, nullable, declared }: InternalColumn, dialect: Dialect): ColumnDefinition {
  const options = declared()
  const { asExpression, generatedType = 'VIRTUAL' } = options
  const type = `${typeText(options, dialect)}${dialect.ddl.typeormColumns.attributes(options)}`
  const { computed, generated } = dialect.ddl.typeormColumns
  const made =
    asExpression === undefined
      ? options.generated === true
        ? generated
        : ''
      : ` GENERATED ALWAYS AS (${asExpression}) ${computed ?? generatedType}`
  return {
    name: column,
    type: `${type}${made}`,
    catalogType: type,
    isText: false,
    nullable: nullable || asExpression !== undefined,
    fallback: undefined,
    initial: initialOf(options, dialect),
    isInternal: true,
  }
}

/** The types that TypeORM stores as strings. */
const IN_TEXT: ReadonlySet<unknown> = new Set(['simple-json', 'simple-array'])
const ENUMS: ReadonlySet<unknown> = new Set(['enum', 'simple-enum'])

function typeText(options: ColumnOptions, dialect: Dialect): string {
  const { type, array } = options
  const { types, typed } = dialect.ddl.typeormColumns
  const text = (maxLength: number | undefined) => dialect.values.kinds[string.name].type({ maxLength })
  if (IN_TEXT.has(type)) return text(undefined)
  const own = type === Date ? 'Date' : String(type)
  if (types.has(own)) return `${typed(own, options)}${array === true ? '[]' : ''}`
  if (ENUMS.has(type)) return text(255)
  const kind = array === true ? undefined : kindOfColumn(type, undefined)
  if (kind !== undefined) return dialect.values.kinds[kind].type(facetsOf(kind, undefined, options))
  return `${typed(typeof type === 'string' ? type : 'text', options)}${array === true ? '[]' : ''}`
}

/** Matches default expressions that need no parentheses. */
const PLAIN = /^(?:[\w.-]+|'(?:[^']|'')*')$/

function initialOf({ default: value, type }: ColumnOptions, dialect: Dialect): string | undefined {
  if (type === 'set' && Array.isArray(value)) return dialect.text.literal(value.join(','))
  if (typeof value !== 'function') return constantText(value, dialect)
  return sqlDefault(String((value as () => unknown)()))
}

/** Returns a default as a column definition contains it. */
export const sqlDefault = (sql: string): string => (PLAIN.test(sql) ? sql : `(${sql})`)
