import type { ColumnDefinition } from './table-definition.js'

/** What follows the type of a column. @param defaultOf - a default as the engine takes it. */
export function valueText(
  { nullable, fallback, initial, generated }: ColumnDefinition,
  defaultOf: (value: string) => string = (value) => value,
): string {
  // MariaDB takes no NOT NULL there.
  if (generated !== undefined) return ` GENERATED ALWAYS ${generated}`
  const value = fallback ?? initial
  return `${nullable ? '' : ' NOT NULL'}${value === undefined ? '' : ` DEFAULT ${defaultOf(value)}`}`
}
