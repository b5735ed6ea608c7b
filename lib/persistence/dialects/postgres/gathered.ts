import type { FieldKind } from '../../../resource/fields/field.js'
import { gatheredBy } from '../values/gathered.js'
import { quoted } from '../values/quoted.js'
import { numberedTime } from './time-numbers.js'

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
  timestamp: asTime,
  json: asText,
  tags: asText,
  bool: (column) => `left(${column}::text, 1)`,
  bytes: (column) => `encode(${column}, 'hex')`,
  float: (column) => `encode(float8send(${column}), 'hex')`,
  double: (column) => `encode(float8send(${column}), 'hex')`,
}

const quote = (name: string): string => quoted(name, '"')

export const postgresGathered = gatheredBy({
  quote,
  element: ({ kind, column }) => ELEMENTS[kind](quote(column)),
  numbered: (kind, name) => (kind === 'timestamp' ? numberedTime(name) : undefined),
  all: (element) => `json_agg(${element})`,
  array: (elements) => `json_build_array(${elements.join(', ')})`,
  bytes: (text) => `octet_length(${text})`,
})

function asIs(column: string): string {
  return column
}

function asText(column: string): string {
  return `${column}::text`
}

/** A column of texts may hold times, too. */
function asTime(column: string): string {
  return `${column}::timestamptz`
}
