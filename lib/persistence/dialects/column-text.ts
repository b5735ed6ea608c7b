import type { ColumnDefinition } from './catalog/table-definition.js'
import type { Dialect } from './dialect.js'

/**
 * A column as CREATE TABLE and ADD COLUMN write it.
 * @param collation - of text; the empty string where the table's own is the right one.
 */
export function columnText(
  column: ColumnDefinition,
  dialect: Dialect,
  collation: string = dialect.collation,
): string {
  const collated = column.isText && collation !== '' ? ` ${collation}` : ''
  const value = column.fallback ?? column.initial
  const fallback = value === undefined ? '' : ` DEFAULT ${value}`
  return `${dialect.quote(column.name)} ${column.type}${collated}${column.nullable ? '' : ' NOT NULL'}${fallback}`
}
