import type { FieldKind } from '../../../resource/fields/field.js'

/** The most arguments of a function. */
const MOST = 100

/**
 * What a decoder expects is the text that the server sends of a column. Numbers of 32 bits may be numbers, and text is a string in
 * JSON as well.
 */
const ELEMENTS: Readonly<Record<FieldKind, (column: string) => string>> = {
  string: asIs,
  enum: asIs,
  int32: asIs,
  uint32: asIs,
  int64: asText,
  uint64: asText,
  duration: asText,
  timestamp: asText,
  json: asText,
  tags: asText,
  bool: (column) => `left(${column}::text, 1)`,
  bytes: (column) => `encode(${column}, 'hex')`,
  float: (column) => `encode(float8send(${column}), 'hex')`,
  double: (column) => `encode(float8send(${column}), 'hex')`,
}

/** @param columns - by their names in the database. */
export const postgresGathered = (
  columns: readonly { readonly kind: FieldKind; readonly column: string }[],
  quote: (name: string) => string,
): string | undefined =>
  columns.length > MOST
    ? undefined
    : `json_agg(json_build_array(${columns.map(({ kind, column }) => ELEMENTS[kind](quote(column))).join(', ')}))`

function asIs(column: string): string {
  return column
}

function asText(column: string): string {
  return `${column}::text`
}
