import { byCodePoint } from '../../text/code-point-order.js'
import { StoredLiteral } from '../../resource/kinds/stored-literal.js'
import { ownOf } from '../../resource/kinds/kinds.js'
import { rulesOf } from './plan-rules.js'
import type { PlanColumn, PlanValue } from './query-plan.js'

/**
 * Returns an entity's value in the form that plans compare: an enum's name, a 32-bit float, the compared
 * beginning of a long value, or undefined for NULL.
 */
export const planValueOf = (column: PlanColumn, value: unknown): PlanValue | undefined => {
  if (value === undefined || value === null) return undefined
  if (value instanceof StoredLiteral) return value
  const { planValue } = rulesOf(column)
  const own = ownOf(value, column)
  if (planValue !== undefined) return planValue(own, column)
  return column.first === undefined ? (own as PlanValue) : beginning(own as PlanValue, column.first)
}

/**
 * Returns the first characters of a string or the first bytes. Characters are code points, as in databases.
 */
const beginning = (value: PlanValue, first: number): PlanValue => {
  if (value instanceof Uint8Array) return value.length <= first ? value : value.subarray(0, first)
  if (typeof value !== 'string' || value.length <= first) return value
  let end = 0
  for (let count = 0; count < first && end < value.length; count++)
    end += (value.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return value.slice(0, end)
}

/**
 * Compares two values as databases do. Returns a negative number, zero or a positive number, or undefined if
 * they cannot be compared.
 */
export const compareValues = (a: PlanValue, b: PlanValue): number | undefined => {
  if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b)
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime()
  if (a instanceof Date || b instanceof Date) return compareNumbers(micros(a), micros(b))
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return compareNumbers(a, b)
}

/** Returns the microseconds of a timestamp, which plans store as a Date or as microseconds. */
const micros = (value: PlanValue): PlanValue =>
  value instanceof Date ? BigInt(value.getTime()) * 1000n : value

/** Compares numbers and bigints exactly. Returns undefined for other values. */
const compareNumbers = (a: PlanValue, b: PlanValue): number | undefined => {
  if (!isNumeric(a) || !isNumeric(b)) return undefined
  if (a < b) return -1
  return a > b ? 1 : 0
}

const isNumeric = (value: PlanValue): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value))
