import type { TagSql } from '../values/tag-sql.js'

export const mysqlTags: TagSql = {
  value: (column, key, write) =>
    hasPath(key)
      ? `JSON_UNQUOTE(JSON_EXTRACT(${column}, ${write(jsonPath(key))}))`
      : `(SELECT v.\`tag value\` ${keysOf(column)} JOIN ${table(column, 'tag value')} AS v ON v.\`tag place\` = k.\`tag place\` WHERE ${isKey(write(key))})`,
  has: (column, key, write, nullable) => {
    if (!hasPath(key)) return `EXISTS (SELECT 1 ${keysOf(column)} WHERE ${isKey(write(key))})`
    const has = `JSON_CONTAINS_PATH(${column}, 'one', ${write(jsonPath(key))})`
    return nullable ? `COALESCE(${has}, 0)` : has
  },
  /** The collation of JSON strings ignores trailing spaces; UTF-8 bytes sort by code point. */
  compared: (value) => `CAST(${value} AS BINARY)`,
  searched: (value) => value,
}

/**
 * Returns false if a key starts with `-`. MariaDB interprets such a key, quoted or not, as an index from the
 * end and finds nothing.
 */
const hasPath = (key: string): boolean => !key.startsWith('-')

/** Returns the path of one key: the quoted part of a path is a JSON string. */
const jsonPath = (key: string): string => `$.${JSON.stringify(key)}`

/**
 * Returns a table of the tags' keys or values and their positions. Its column names cannot collide with
 * columns of a resource.
 */
const table = (column: string, name: string): string =>
  `JSON_TABLE(${column}, '$${name === 'tag key' ? '[*]' : '.*'}' COLUMNS (\`tag place\` FOR ORDINALITY, \`${name}\` LONGTEXT CHARACTER SET utf8mb4 PATH '$'))`

const keysOf = (column: string): string => `FROM ${table(`JSON_KEYS(${column})`, 'tag key')} AS k`

const isKey = (key: string): string => `CAST(k.\`tag key\` AS BINARY) = ${key}`
