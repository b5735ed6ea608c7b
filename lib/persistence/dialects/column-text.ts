import type { ColumnDefinition } from './catalog/table-definition.js'
import { valueText } from './catalog/value-text.js'
import type { Dialect } from './dialect.js'

/**
 * A column as CREATE TABLE and ADD COLUMN write it.
 * @param collation - of text; the empty string where the table's own is the right one.
 */
export function columnText(
  column: ColumnDefinition,
  dialect: Dialect,
  collation: string = dialect.text.collation,
): string {
  const collated = column.isText && collation !== '' ? ` ${collation}` : ''
  const generated = column.isIdentity === true ? dialect.ddl.identity.column : ''
  return `${dialect.text.quote(column.name)} ${column.type}${collated}${valueText(column)}${generated}`
}
