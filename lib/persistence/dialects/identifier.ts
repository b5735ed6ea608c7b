import type { Dialect } from './dialect.js'

/**
 * A name as SQL text of the dialect. Not in double quotes on SQLite, which takes such a name for a text when there is no
 * column of it: https://www.sqlite.org/quirks.html#dblquote
 */
export const quoteIdentifier = (name: string, dialect: Dialect): string => {
  const mark = dialect === 'postgres' ? '"' : '`'
  return mark + (name.includes(mark) ? name.replaceAll(mark, mark + mark) : name) + mark
}
