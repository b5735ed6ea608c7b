import type { ColumnDefinition } from './table-definition.js'

/** The SQL after a column's type. @param defaultOf - a default as the engine accepts it. */
export function valueText(
  { nullable, fallback, initial, generated }: ColumnDefinition,
  defaultOf: (value: string) => string = (value) => value,
): string {
  // MariaDB takes no NOT NULL there.
  if (generated !== undefined) return ` GENERATED ALWAYS ${generated}`
  const value = fallback ?? initial
  return `${nullable ? '' : ' NOT NULL'}${value === undefined ? '' : ` DEFAULT ${defaultOf(value)}`}`
}
