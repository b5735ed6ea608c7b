import type { Dialect } from './dialect.js'

/** How a text becomes part of a statement: a placeholder, or a literal of the declaration. */
type Write = (text: string) => string

/** The value of one tag of a JSON column, as text; NULL where there is none. `column` is SQL. */
export const tagValue = (column: string, key: string, dialect: Dialect, write: Write): string => {
  switch (dialect) {
    case 'postgres':
      return `(${column} ->> ${write(key)}::text)`
    case 'sqlite':
      return `(SELECT tag.value ${sqliteTag(column, write(key))})`
    case 'mysql':
    case 'mariadb':
      return hasPath(key)
        ? `JSON_UNQUOTE(JSON_EXTRACT(${column}, ${write(jsonPath(key))}))`
        : `(SELECT v.\`tag value\` ${mysqlKeys(column)} JOIN ${mysqlTable(column, 'tag value')} AS v ON v.\`tag place\` = k.\`tag place\` WHERE ${mysqlKey(write(key))})`
  }
}

/** SQL that says whether the tags have the key; never NULL. @param nullable - whether the column may be. */
export const hasTag = (
  column: string,
  key: string,
  dialect: Dialect,
  write: Write,
  nullable: boolean,
): string => {
  const orElse = (text: string, otherwise: string) => (nullable ? `COALESCE(${text}, ${otherwise})` : text)
  switch (dialect) {
    case 'postgres':
      return orElse(`jsonb_exists(${column}, ${write(key)})`, 'FALSE')
    case 'sqlite':
      return `EXISTS (SELECT 1 ${sqliteTag(column, write(key))})`
    case 'mysql':
    case 'mariadb':
      return hasPath(key)
        ? orElse(`JSON_CONTAINS_PATH(${column}, 'one', ${write(jsonPath(key))})`, '0')
        : `EXISTS (SELECT 1 ${mysqlKeys(column)} WHERE ${mysqlKey(write(key))})`
  }
}

/**
 * The one row of the tag. SQLite's JSON paths cannot spell every key, json_each compares them as text. The column is
 * renamed first, because a column called `key` or `json` would mean one of json_each's own.
 */
const sqliteTag = (column: string, key: string): string =>
  `FROM (SELECT ${column} AS held) AS tags, json_each(tags.held) AS tag WHERE tag.key = ${key}`

/** MariaDB takes `-` at the start of a key, quoted or not, for an index from the end, and then finds nothing. */
const hasPath = (key: string): boolean => !key.startsWith('-')

/** A path to one key: the quoted part of a path is a JSON string. */
const jsonPath = (key: string): string => `$.${JSON.stringify(key)}`

/** Keys and values of the tags, each with its place among them. No column of a resource is called like these. */
const mysqlTable = (column: string, name: string): string =>
  `JSON_TABLE(${column}, '$${name === 'tag key' ? '[*]' : '.*'}' COLUMNS (\`tag place\` FOR ORDINALITY, \`${name}\` LONGTEXT CHARACTER SET utf8mb4 PATH '$'))`

const mysqlKeys = (column: string): string => `FROM ${mysqlTable(`JSON_KEYS(${column})`, 'tag key')} AS k`

const mysqlKey = (key: string): string => `CAST(k.\`tag key\` AS BINARY) = ${key}`
