import type { JsonKind, JsonSql } from '../values/json-sql.js'

/** A column that another tool made may be text or json. */
const at = (column: string, keys: readonly string[]): string =>
  keys.length === 0 ? `(${column})::jsonb` : `((${column})::jsonb #> '{${keys.join(',')}}')`

const VALUES: Readonly<Record<JsonKind, (field: string) => string>> = {
  string: (field) => `(CASE WHEN jsonb_typeof(${field}) = 'string' THEN ${field} #>> '{}' END)`,
  enum: (field) => `(CASE WHEN jsonb_typeof(${field}) IN ('string', 'number') THEN ${field} #>> '{}' END)`,
  bool: (field) => `(CASE WHEN jsonb_typeof(${field}) = 'boolean' THEN ${field}::boolean END)`,
  int32: (field) => number(field),
  double: (field) => number(field),
}

/** Numeric has every number that JSON can spell; a double would be out of range for some. */
const number = (field: string): string =>
  `(CASE WHEN jsonb_typeof(${field}) = 'number' THEN ${field}::numeric END)`

export const postgresJson: JsonSql = {
  value: (column, keys, kind) => VALUES[kind](at(column, keys)),
  isSet: (column, keys) => `jsonb_typeof(${at(column, keys)}) <> 'null'`,
  isObject: (column, keys) => `jsonb_typeof(${at(column, keys)}) = 'object'`,
  literal: (value) => String(value).toUpperCase(),
  holds: (column, value, write) =>
    `COALESCE((${column})::jsonb @> (${write(JSON.stringify([value]))}::text)::jsonb, FALSE)`,
}
