import type { JsonSql } from '../values/json-sql.js'

const at = (column: string, keys: readonly string[]): string =>
  keys.length === 0 ? column : `JSON_EXTRACT(${column}, '$.${keys.map((key) => `"${key}"`).join('.')}')`

export function textInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN JSON_TYPE(${field}) = 'STRING' THEN JSON_UNQUOTE(${field}) END)`
}

export function nameInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN JSON_TYPE(${field}) IN ('STRING', 'INTEGER') THEN JSON_UNQUOTE(${field}) END)`
}

export function booleanInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN JSON_TYPE(${field}) = 'BOOLEAN' THEN JSON_UNQUOTE(${field}) = 'true' END)`
}

const NUMBERS = `('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')`

/** MariaDB's JSON is text, which adding makes a double. */
export function numberInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN JSON_TYPE(${field}) IN ${NUMBERS} THEN ${field} + 0e0 END)`
}

/** The elements of a list. No column of a resource is called like this one. */
const elements = (column: string, type: string): string =>
  `JSON_TABLE(${column}, '$[*]' COLUMNS (\`list element\` ${type} PATH '$')) AS e`

export const mysqlJson: JsonSql = {
  isSet: (column, keys) => `JSON_TYPE(${at(column, keys)}) <> 'NULL'`,
  isObject: (column, keys) => `JSON_TYPE(${at(column, keys)}) = 'OBJECT'`,
  literal: (value) => (typeof value === 'boolean' ? String(Number(value)) : `${value}e0`),
  /** MariaDB's JSON_CONTAINS compares text by another collation; by bytes it is exact. */
  holds: (column, value, write) => {
    if (typeof value === 'boolean') return `COALESCE(JSON_CONTAINS(${column}, '${value}'), 0)`
    if (typeof value === 'number')
      return `EXISTS (SELECT 1 FROM ${elements(column, 'DOUBLE')} WHERE e.\`list element\` = ${write(String(value))} + 0e0)`
    return `EXISTS (SELECT 1 FROM ${elements(column, 'LONGTEXT CHARACTER SET utf8mb4')} WHERE CAST(e.\`list element\` AS BINARY) = ${write(value)})`
  },
}
