import { arrayText } from './arrays.js'
import type { JsonSql } from '../values/json-sql.js'

/** A column that another tool made may be text or json. */
const at = (column: string, keys: readonly string[]): string =>
  keys.length === 0 ? `(${column})::jsonb` : `((${column})::jsonb #> '{${keys.join(',')}}')`

export function textInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN jsonb_typeof(${field}) = 'string' THEN ${field} #>> '{}' END)`
}

export function nameInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN jsonb_typeof(${field}) IN ('string', 'number') THEN ${field} #>> '{}' END)`
}

export function booleanInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN jsonb_typeof(${field}) = 'boolean' THEN ${field}::boolean END)`
}

/** Numeric has every number that JSON can spell; a double would be out of range for some. */
export function numberInside(column: string, keys: readonly string[]): string {
  const field = at(column, keys)
  return `(CASE WHEN jsonb_typeof(${field}) = 'number' THEN ${field}::numeric END)`
}

export const postgresJson: JsonSql = {
  isSet: (column, keys) => `jsonb_typeof(${at(column, keys)}) <> 'null'`,
  isObject: (column, keys) => `jsonb_typeof(${at(column, keys)}) = 'object'`,
  literal: (value) => String(value).toUpperCase(),
  holds: (column, value, write, { list }) =>
    list?.as === 'array'
      ? `COALESCE(${column} @> ${write(arrayText([value], list.element))}, FALSE)`
      : `COALESCE((${column})::jsonb @> (${write(JSON.stringify([value]))}::text)::jsonb, FALSE)`,
}
