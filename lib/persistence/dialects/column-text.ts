import type { ColumnDefinition } from './catalog/table-definition.js'
import { valueText } from './catalog/value-text.js'
import type { Dialect } from './dialect.js'

/**
 * Returns a column definition for CREATE TABLE and ADD COLUMN.
 *
 * @param collation - the collation of string columns. Empty if the table's default is correct.
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
