import type { TagSql } from '../values/tag-sql.js'

/**
 * The one row of the tag. JSON paths cannot spell every key, json_each compares them as text. The column is
 * renamed first, because a column called `key` or `json` would mean one of json_each's own.
 */
const tag = (column: string, key: string): string =>
  `FROM (SELECT ${column} AS held) AS tags, json_each(tags.held) AS tag WHERE tag.key = ${key}`

export const sqliteTags: TagSql = {
  value: (column, key, write) => `(SELECT tag.value ${tag(column, write(key))})`,
  has: (column, key, write) => `EXISTS (SELECT 1 ${tag(column, write(key))})`,
  compared: (value) => value,
  searched: (value) => value,
}
