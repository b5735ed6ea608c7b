import type { JsonSql, LeafType } from '../values/json-sql.js'

const path = (keys: readonly string[]): string => `'$${keys.map((key) => `."${key}"`).join('')}'`
const typeAt = (column: string, keys: readonly string[]): string => `json_type(${column}, ${path(keys)})`

/**
 * Returns a function that selects a field inside JSON.
 *
 * @param types - the accepted JSON types.
 * @param type - the SQL type for a cast, if needed.
 */
const inside =
  (types: string, type?: string, as: (value: string) => string = (value) => value) =>
  (column: string, keys: readonly string[]): string => {
    const value = `json_extract(${column}, ${path(keys)})`
    const typed = type === undefined ? value : `CAST(${value} AS ${type})`
    return `(CASE WHEN ${typeAt(column, keys)} ${types} THEN ${as(typed)} END)`
  }

export const textInside = inside(`= 'text'`)
export const nameInside = inside(`IN ('text', 'integer')`, 'TEXT')
export const booleanInside = inside(`IN ('true', 'false')`)
export const integerInside = inside(`IN ('integer', 'real')`)
/**
 * Integers are included, because JSON stores a double without a fraction as an integer. Its digits may exceed
 * a double's.
 */
export const doubleInside = inside(`IN ('integer', 'real')`, 'REAL')

/** The JSON types of a leaf, and its value in SQL. */
const LEAVES: Readonly<Record<LeafType, readonly [types: string, value: (value: string) => string]>> = {
  string: [`= 'text'`, (value) => value],
  number: [`IN ('integer', 'real')`, (value) => `CAST(${value} AS REAL)`],
  boolean: [`IN ('true', 'false')`, (value) => value],
  object: [`= 'object'`, () => '1'],
  array: [`= 'array'`, () => '1'],
  any: [`<> 'null'`, () => '1'],
}

export const sqliteJson: JsonSql = {
  // Keys are compared as values, because a JSON path cannot express every key.
  leaf: (column, keys, path, type, write) => {
    const valid = `(CASE WHEN json_valid(${column}) THEN ${column} END)`
    const [types, value] = LEAVES[type]
    if (path.length === 0) return inside(types, undefined, value)(valid, keys)
    const member = (object: string, key: string, ofMember: string) =>
      `(SELECT ${ofMember} FROM (SELECT ${object} AS held) AS around, json_each(around.held) AS member WHERE member.key = ${write(key)})`
    return path.reduce(
      (object, key, index) =>
        member(
          object,
          key,
          index === path.length - 1
            ? `CASE WHEN member.type ${types} THEN ${value('member.value')} END`
            : `CASE WHEN member.type = 'object' THEN member.value END`,
        ),
      keys.length === 0 ? valid : inside(`= 'object'`)(valid, keys),
    )
  },
  isSet: (column, keys) => `${typeAt(column, keys)} <> 'null'`,
  isObject: (column, keys) => `${typeAt(column, keys)} = 'object'`,
  literal: (value) => String(Number(value)),
  /**
   * The column is renamed first, because a column named `key` or `json` would be mistaken for one of
   * json_each's own.
   */
  holds: (column, value, write) => {
    const elements = `SELECT 1 FROM (SELECT ${column} AS held) AS list, json_each(list.held) AS element`
    if (typeof value === 'boolean') return `EXISTS (${elements} WHERE element.type = '${value}')`
    if (typeof value === 'string')
      return `EXISTS (${elements} WHERE element.type = 'text' AND element.value = ${write(value)})`
    return `EXISTS (${elements} WHERE element.type IN ('integer', 'real') AND CAST(element.value AS REAL) = CAST(${write(String(value))} AS REAL))`
  },
}
