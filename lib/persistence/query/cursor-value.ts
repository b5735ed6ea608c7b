import { StoredLiteral } from '../../resource/kinds/stored-literal.js'
import { planValueOf } from './compare-values.js'
import type { PlanColumn, PlanValue } from './query-plan.js'
import { rulesOf } from './plan-rules.js'

/**
 * A sort value as JSON. If JSON cannot represent a value exactly, it is an object whose key is a letter for
 * the type.
 */
export type JsonValue = null | string | number | boolean | Readonly<Record<string, string | number>>

/** Returns an entity's value for a cursor, or null for NULL. */
export const cursorValueOf = (column: PlanColumn, value: unknown): PlanValue | null =>
  planValueOf(column, value) ?? null

/**
 * Converts a value to JSON without loss, including 64-bit integers, -0, infinities, NaN, bytes and
 * timestamps.
 */
export const toJson = (value: PlanValue | null): JsonValue => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return { i: value.toString() }
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { n: Object.is(value, -0) ? '-0' : String(value) }
  }
  if (value instanceof StoredLiteral) return { s: value.text }
  return value instanceof Date ? { t: value.getTime() } : { b: Buffer.from(value).toString('base64url') }
}

export const isJsonValue = (json: unknown): json is JsonValue => {
  if (typeof json !== 'object' || json === null) return json !== undefined
  const contents: unknown[] = Array.isArray(json) ? [] : Object.values(json)
  const [content] = contents
  return contents.length === 1 && (typeof content === 'string' || typeof content === 'number')
}

/**
 * Returns an array with the value. Returns undefined if the column cannot hold it, or if a cursor would
 * contain a different representation of it.
 */
export const fromJson = (column: PlanColumn, json: JsonValue): readonly [PlanValue | null] | undefined => {
  if (json === null) return column.nullable ? [null] : undefined
  const value = typeof json === 'object' ? typed(json) : json
  const rules = rulesOf(column)
  const isOfColumn =
    value instanceof StoredLiteral ? !rules.isText : value !== undefined && rules.isInCursor(value)
  if (value === undefined || !isOfColumn) return undefined
  const canonical = toJson(cursorValueOf(column, value))
  return JSON.stringify(canonical) === JSON.stringify(json) ? [value] : undefined
}

const typed = (json: Readonly<Record<string, unknown>>): PlanValue | undefined => {
  const entries = Object.entries(json)
  const [letter, content] = entries[0] ?? ['', undefined]
  if (entries.length !== 1) return undefined
  switch (letter) {
    case 'i':
      return typeof content === 'string' && /^-?\d{1,100}$/.test(content) ? BigInt(content) : undefined
    case 'n':
      return ['-0', 'Infinity', '-Infinity', 'NaN'].includes(String(content)) ? Number(content) : undefined
    case 't':
      return typeof content === 'number' ? new Date(content) : undefined
    case 'b':
      return typeof content === 'string' ? Buffer.from(content, 'base64url') : undefined
    case 's':
      return typeof content === 'string' ? StoredLiteral.of(content) : undefined
    default:
      return undefined
  }
}
