import { InvalidArgument } from '../../errors.js'
import type { FieldKind, ValueField } from '../fields/field.js'
import { ownPartProblem } from '../names/pattern.js'
import { INTEGER_RANGES } from './ranges.js'

/** What is wrong with a value, as text that follows the field's name; undefined when the column can hold it. */
type Check = (value: unknown, field: ValueField) => string | undefined

const EARLIEST_MS = Date.UTC(1000, 0, 1)
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const ofType = (type: string, value: unknown) =>
  typeof value === type ? undefined : `has to be a ${type}, not a ${typeof value}`

const integer =
  ([min, max]: readonly [number, number]): Check =>
  (value) =>
    ofType('number', value) ??
    (Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `has to be an integer from ${min} to ${max}`)

const bigInteger =
  ([min, max]: readonly [bigint, bigint]): Check =>
  (value) =>
    ofType('bigint', value) ??
    ((value as bigint) >= min && (value as bigint) <= max ? undefined : `has to be from ${min} to ${max}`)

function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return `has to be a string, not a ${typeof value}`
  if (value.includes('\0')) return 'must not contain a NUL character'
  return value.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is no character'
}

const CHECKS: Readonly<Record<FieldKind, Check>> = {
  string: (value, field) => {
    const problem = text(value) ?? (field.inName === true ? ownPartProblem(value as string) : undefined)
    if (problem !== undefined || field.maxLength === undefined) return problem
    return isLonger(value as string, field.maxLength)
      ? `is longer than ${field.maxLength} characters`
      : undefined
  },
  bytes: (value) => (value instanceof Uint8Array ? undefined : 'has to be a Uint8Array'),
  bool: (value) => ofType('boolean', value),
  int32: integer(INTEGER_RANGES.int32),
  uint32: integer(INTEGER_RANGES.uint32),
  int64: bigInteger(INTEGER_RANGES.int64),
  uint64: bigInteger(INTEGER_RANGES.uint64),
  duration: bigInteger(INTEGER_RANGES.duration),
  float: (value) =>
    ofType('number', value) ??
    (Number.isFinite(Math.fround(value as number)) ? undefined : 'has to be a finite 32-bit number'),
  double: (value) =>
    ofType('number', value) ?? (Number.isFinite(value) ? undefined : 'has to be a finite number'),
  enum: (value, field) =>
    field.enumNames?.nameOf.has(value as number)
      ? undefined
      : `has no value ${String(value)}: use one of ${[...(field.enumNames?.numberOf.keys() ?? [])].join(', ')}`,
  timestamp: (value) => {
    if (!(value instanceof Date)) return 'has to be a Date'
    const ms = value.getTime()
    return ms >= EARLIEST_MS && ms <= LATEST_MS ? undefined : 'has to be a time from 1000-01-01 to 9999-12-31'
  },
  tags: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return 'has to be a map of strings'
    const entries = Object.entries(value)
    if (entries.length > MAX_TAGS) return `has ${entries.length} entries: use at most ${MAX_TAGS}`
    for (const [key, entry] of entries) {
      const problem = text(key) ?? text(entry)
      if (problem !== undefined) return `${JSON.stringify(key)} ${problem}`
    }
    return undefined
  },
  json: (value, field) =>
    field.repeated && !Array.isArray(value) ? 'has to be an array' : jsonProblem(value, 0),
}

/** The most entries of a map of tags. */
export const MAX_TAGS = 256
const MAX_DEPTH = 64

/** Strings anywhere inside a JSON value must be storable in a text column. */
function jsonProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return 'contains a number that is not finite'
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array)
    return undefined
  if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
  for (const [key, element] of Object.entries(value)) {
    const problem = text(key) ?? jsonProblem(element, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Counts code points, as databases do. It counts only when the UTF-16 length is not conclusive. */
export function isLonger(value: string, max: number): boolean {
  if (value.length <= max) return false
  if (value.length > max * 2) return true
  let count = 0
  for (const _ of value) if (++count > max) return true
  return false
}

/**
 * Checks one value. Absent values are left to the database (NOT NULL). @throws InvalidArgument with the proto field.
 */
export function checkValue(field: ValueField, value: unknown): void {
  if (value === undefined || value === null) return
  const problem = CHECKS[field.kind](value, field)
  if (problem !== undefined) throw new InvalidArgument(field.proto, problem)
}
