import type { ColumnOptions } from 'typeorm'
import { facetsOf } from '../../resource/kinds/facets.js'
import { kindOfColumn } from '../../resource/kinds/declared-kind.js'
import { string } from '../../resource/kinds/text.js'
import type { InternalColumn, InternalTable } from '../../resource/typeorm/internal-columns.js'
import type { ColumnDefinition, IndexDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { constantText } from '../dialects/values/constant-text.js'
import { indexName } from './index-name.js'

/** Columns that only TypeORM knows, as it would make them. A comparison asks only whether they are there. */
export const internalDefinitions = (
  { columns }: InternalTable,
  dialect: Dialect,
): readonly ColumnDefinition[] => columns.map((column) => definitionOf(column, dialect))

export const internalIndexes = ({ indexes }: InternalTable, table: string): readonly IndexDefinition[] =>
  indexes
    .filter(({ isMade }) => isMade)
    .map(({ columns, unique, name }) => ({
      name: name ?? indexName(table, columns, unique ? 'key' : 'idx'),
      columns,
      unique,
      where: undefined,
    }))

function definitionOf({ column, nullable, declared }: InternalColumn, dialect: Dialect): ColumnDefinition {
  const options = declared()
  const { asExpression, generatedType = 'VIRTUAL' } = options
  const type = typeText(options, dialect)
  const { computed, minted } = dialect.typeormColumns
  const made =
    asExpression === undefined
      ? options.generated === true
        ? minted
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

/** Types that TypeORM keeps in a text. */
const IN_TEXT: ReadonlySet<unknown> = new Set(['simple-json', 'simple-array'])
const ENUMS: ReadonlySet<unknown> = new Set(['enum', 'simple-enum'])

function typeText(options: ColumnOptions, dialect: Dialect): string {
  const { type, length, precision, scale, unsigned, array } = options
  const text = (maxLength: number | undefined) => dialect.kinds[string.name].type({ maxLength })
  if (IN_TEXT.has(type)) return text(undefined)
  if (ENUMS.has(type)) return text(255)
  const kind = array === true ? undefined : kindOfColumn(type, undefined)
  if (kind !== undefined) return dialect.kinds[kind].type(facetsOf(kind, undefined, options))
  const digits = [precision, scale].filter((one) => one !== undefined && one !== null)
  const size = length !== undefined && length !== '' ? [length] : digits
  const name = typeof type === 'string' ? type : 'text'
  return `${name}${size.length === 0 ? '' : `(${size.join(', ')})`}${unsigned === true ? ' unsigned' : ''}${array === true ? '[]' : ''}`
}

/** What SQL takes as a default as it is, and in no parentheses. */
const PLAIN = /^(?:[\w.-]+|'(?:[^']|'')*')$/

function initialOf({ default: value }: ColumnOptions, dialect: Dialect): string | undefined {
  if (typeof value !== 'function') return constantText(value, dialect)
  const sql = String((value as () => unknown)())
  return PLAIN.test(sql) ? sql : `(${sql})`
}
