import type { JsonSql } from '../values/json-sql.js'

const path = (keys: readonly string[]): string => `'$${keys.map((key) => `."${key}"`).join('')}'`
const typeAt = (column: string, keys: readonly string[]): string => `json_type(${column}, ${path(keys)})`

/** @param types - of JSON, that are values. @param type - of SQL, where the value is cast to it. */
const inside =
  (types: string, type?: string) =>
  (column: string, keys: readonly string[]): string => {
    const value = `json_extract(${column}, ${path(keys)})`
    const typed = type === undefined ? value : `CAST(${value} AS ${type})`
    return `(CASE WHEN ${typeAt(column, keys)} ${types} THEN ${typed} END)`
  }

export const textInside = inside(`= 'text'`)
export const nameInside = inside(`IN ('text', 'integer')`, 'TEXT')
export const booleanInside = inside(`IN ('true', 'false')`)
export const integerInside = inside(`IN ('integer', 'real')`)
/** A double without a fraction is stored as an integer, of more digits than a double has. */
export const doubleInside = inside(`IN ('integer', 'real')`, 'REAL')

export const sqliteJson: JsonSql = {
  isSet: (column, keys) => `${typeAt(column, keys)} <> 'null'`,
  isObject: (column, keys) => `${typeAt(column, keys)} = 'object'`,
  literal: (value) => String(Number(value)),
  /** The column is renamed first, because one called `key` or `json` would mean one of json_each's own. */
  holds: (column, value, write) => {
    const elements = `SELECT 1 FROM (SELECT ${column} AS held) AS list, json_each(list.held) AS element`
    if (typeof value === 'boolean') return `EXISTS (${elements} WHERE element.type = '${value}')`
    if (typeof value === 'string')
      return `EXISTS (${elements} WHERE element.type = 'text' AND element.value = ${write(value)})`
    return `EXISTS (${elements} WHERE element.type IN ('integer', 'real') AND CAST(element.value AS REAL) = CAST(${write(String(value))} AS REAL))`
  },
}
