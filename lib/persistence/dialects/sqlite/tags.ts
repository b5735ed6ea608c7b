import type { TagSql } from '../values/tag-sql.js'

/**
 * Returns a FROM clause with the row of one tag. json_each compares keys as strings, because JSON paths
 * cannot express every key. The column is renamed first, because a column named `key` or `json` would be
 * mistaken for one of json_each's own.
 */
const tag = (column: string, key: string): string =>
  `FROM (SELECT ${column} AS held) AS tags, json_each(tags.held) AS tag WHERE tag.key = ${key}`

export const sqliteTags: TagSql = {
  value: (column, key, write) => `(SELECT tag.value ${tag(column, write(key))})`,
  has: (column, key, write) => `EXISTS (SELECT 1 ${tag(column, write(key))})`,
  compared: (value) => value,
  searched: (value) => value,
}
