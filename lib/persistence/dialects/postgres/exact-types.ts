import type { Column, FieldKind } from '../../../resource/fields/field.js'

const TEXT = ['text']
const JSON_TYPES = ['jsonb', 'json']

const TYPES: Readonly<Record<FieldKind, readonly string[]>> = {
  string: TEXT,
  enum: TEXT,
  bytes: ['bytea'],
  bool: ['boolean'],
  int32: ['smallint', 'integer', 'bigint'],
  uint32: ['integer', 'bigint'],
  int64: ['bigint'],
  uint64: ['bigint', 'numeric(20,0)'],
  float: ['real', 'double precision'],
  double: ['double precision'],
  timestamp: ['timestamp with time zone', 'timestamp(3) with time zone', 'timestamp(6) with time zone'],
  duration: ['bigint'],
  json: JSON_TYPES,
  tags: JSON_TYPES,
}

/** Trailing spaces that a shorter column has no room for are cut off without an error. */
const VARCHAR = /^character varying(?:\((\d+)\))?$/

/** @param type - of the column, with its length or precision. */
export function keepsExactly({ kind, maxLength = Infinity }: Column, type: string): boolean {
  const varchar = kind === 'string' || kind === 'enum' ? VARCHAR.exec(type) : null
  if (varchar === null) return TYPES[kind].includes(type)
  return varchar[1] === undefined || Number(varchar[1]) >= maxLength
}
