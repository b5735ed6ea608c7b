import { again } from '../values/bound-value.js'
import type { JsonSql, LeafType } from '../values/json-sql.js'

const at = (column: string, keys: readonly string[]): string =>
  keys.length === 0 ? column : `JSON_EXTRACT(${column}, '$.${keys.map((key) => `"${key}"`).join('.')}')`

/**
 * Returns the SQL of a field's value.
 *
 * @param repeated - the same field for its second use in the expression.
 */
type OfField = (field: string, repeated: string) => string

const inside =
  (of: OfField) =>
  (column: string, keys: readonly string[]): string => {
    const field = at(column, keys)
    return of(field, field)
  }

const text: OfField = (field, repeated) =>
  `(CASE WHEN JSON_TYPE(${field}) = 'STRING' THEN JSON_UNQUOTE(${repeated}) END)`

export const textInside = inside(text)

export function nameInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN JSON_TYPE(${field}) IN ('STRING', 'INTEGER') THEN JSON_UNQUOTE(${field}) END)`
}

const boolean: OfField = (field, repeated) =>
  `(CASE WHEN JSON_TYPE(${field}) = 'BOOLEAN' THEN JSON_UNQUOTE(${repeated}) = 'true' END)`

export const booleanInside = inside(boolean)

const NUMBERS = `('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')`

/** MariaDB's JSON is text, which an addition converts to a double. */
const number: OfField = (field, repeated) =>
  `(CASE WHEN JSON_TYPE(${field}) IN ${NUMBERS} THEN ${repeated} + 0e0 END)`

export const numberInside = inside(number)

const ofShape =
  (condition: string): OfField =>
  (field) =>
    `(CASE WHEN JSON_TYPE(${field}) ${condition} THEN 1 END)`

const LEAVES: Readonly<Record<LeafType, OfField>> = {
  string: text,
  ...{ number, boolean },
  object: ofShape(`= 'OBJECT'`),
  array: ofShape(`= 'ARRAY'`),
  any: ofShape(`<> 'NULL'`),
}

/** Returns a table of a list's elements. Its column name cannot collide with a column of a resource. */
export const elementsOf = (column: string, type: string): string =>
  `JSON_TABLE(${column}, '$[*]' COLUMNS (\`list element\` ${type} PATH '$')) AS e`

export const mysqlJson: JsonSql = {
  leaf: (column, keys, path, type, write) => {
    if (path.length === 0) return inside(LEAVES[type])(column, keys)
    const bound = write(`$${[...keys, ...path].map((key) => `.${JSON.stringify(key)}`).join('')}`)
    const field = (placeholder: string) => `JSON_EXTRACT(${column}, ${placeholder})`
    return LEAVES[type](field(bound), field(again(bound)))
  },
  isSet: (column, keys) => `JSON_TYPE(${at(column, keys)}) <> 'NULL'`,
  isObject: (column, keys) => `JSON_TYPE(${at(column, keys)}) = 'OBJECT'`,
  literal: (value) => (typeof value === 'boolean' ? String(Number(value)) : `${value}e0`),
  /** MariaDB's JSON_CONTAINS compares strings by another collation; comparing bytes is exact. */
  holds: (column, value, write) => {
    if (typeof value === 'boolean') return `COALESCE(JSON_CONTAINS(${column}, '${value}'), 0)`
    if (typeof value === 'number')
      return `EXISTS (SELECT 1 FROM ${elementsOf(column, 'DOUBLE')} WHERE e.\`list element\` = ${write(String(value))} + 0e0)`
    return `EXISTS (SELECT 1 FROM ${elementsOf(column, 'LONGTEXT CHARACTER SET utf8mb4')} WHERE CAST(e.\`list element\` AS BINARY) = ${write(value)})`
  },
}
