import { arrayText } from './arrays.js'
import type { JsonSql, LeafType } from '../values/json-sql.js'

/**
 * Returns the JSON at these keys. The cast is needed because other tools may create the column as text or
 * json.
 */
const at = (column: string, keys: readonly string[]): string =>
  keys.length === 0 ? `(${column})::jsonb` : `((${column})::jsonb #> '{${keys.join(',')}}')`

const text = (field: string): string =>
  `(CASE WHEN jsonb_typeof(${field}) = 'string' THEN ${field} #>> '{}' END)`

export const textInside = (column: string, keys: readonly string[]): string => text(at(column, keys))

export function nameInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN jsonb_typeof(${field}) IN ('string', 'number') THEN ${field} #>> '{}' END)`
}

const boolean = (field: string): string =>
  `(CASE WHEN jsonb_typeof(${field}) = 'boolean' THEN ${field}::boolean END)`

export const booleanInside = (column: string, keys: readonly string[]): string => boolean(at(column, keys))

/**
 * Returns the field as a numeric, which can represent every JSON number. Some are out of range for a double.
 */
const number = (field: string): string =>
  `(CASE WHEN jsonb_typeof(${field}) = 'number' THEN ${field}::numeric END)`

export const numberInside = (column: string, keys: readonly string[]): string => number(at(column, keys))

const ofShape = (condition: string) => (field: string) =>
  `(CASE WHEN jsonb_typeof(${field}) ${condition} THEN 1 END)`

const LEAVES: Readonly<Record<LeafType, (field: string) => string>> = {
  string: text,
  ...{ number, boolean },
  object: ofShape(`= 'object'`),
  array: ofShape(`= 'array'`),
  any: ofShape(`<> 'null'`),
}

export const postgresJson: JsonSql = {
  // The operator `->` with a string never finds an array element.
  leaf: (column, keys, path, type, write) =>
    LEAVES[type](path.reduce((field, key) => `(${field} -> ${write(key)}::text)`, at(column, keys))),
  isSet: (column, keys) => `jsonb_typeof(${at(column, keys)}) <> 'null'`,
  isObject: (column, keys) => `jsonb_typeof(${at(column, keys)}) = 'object'`,
  literal: (value) => String(value).toUpperCase(),
  holds: (column, value, write, { list }) =>
    list?.as === 'array'
      ? `COALESCE(${column} @> ${write(arrayText([value], list.element))}, FALSE)`
      : `COALESCE((${column})::jsonb @> (${write(JSON.stringify([value]))}::text)::jsonb, FALSE)`,
}
