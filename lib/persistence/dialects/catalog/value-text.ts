import type { ColumnDefinition } from './table-definition.js'

/**
 * Returns the SQL after a column's type.
 *
 * @param defaultOf - returns a default in the form that the engine accepts.
 */
export function valueText(
  { nullable, fallback, initial, generated }: ColumnDefinition,
  defaultOf: (value: string) => string = (value) => value,
): string {
  // MariaDB does not accept NOT NULL for generated columns.
  if (generated !== undefined) return ` GENERATED ALWAYS ${generated}`
  const value = fallback ?? initial
  return `${nullable ? '' : ' NOT NULL'}${value === undefined ? '' : ` DEFAULT ${defaultOf(value)}`}`
}
