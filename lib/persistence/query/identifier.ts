import type { Dialect } from '../executor.js'

/** A name as SQL text of the dialect. */
export const quoteIdentifier = (name: string, dialect: Dialect): string => {
  const mark = dialect === 'mysql' || dialect === 'mariadb' ? '`' : '"'
  return mark + (name.includes(mark) ? name.replaceAll(mark, mark + mark) : name) + mark
}
