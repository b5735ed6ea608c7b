import { byCodePoint } from '../../text/code-point-order.js'
import { ownOf } from '../../resource/kinds/kinds.js'
import { rulesOf } from './plan-rules.js'
import type { PlanColumn, PlanValue } from './query-plan.js'

/**
 * An entity's value for a column, as plans compare it: an enum as its name, a float with 32 bits, long values
 * cut to the part that counts; undefined for NULL.
 */
export const planValueOf = (column: PlanColumn, value: unknown): PlanValue | undefined => {
  if (value === undefined || value === null) return undefined
  const { planValue } = rulesOf(column)
  const own = ownOf(value, column)
  if (planValue !== undefined) return planValue(own, column)
  return column.first === undefined ? (own as PlanValue) : beginning(own as PlanValue, column.first)
}

/** The first characters of a text, or bytes. Characters are code points, as databases count them. */
const beginning = (value: PlanValue, first: number): PlanValue => {
  if (value instanceof Uint8Array) return value.length <= first ? value : value.subarray(0, first)
  if (typeof value !== 'string' || value.length <= first) return value
  let end = 0
  for (let count = 0; count < first && end < value.length; count++)
    end += (value.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return value.slice(0, end)
}

/** Negative, zero or positive, as databases order the two; undefined when they cannot be compared. */
export const compareValues = (a: PlanValue, b: PlanValue): number | undefined => {
  if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b)
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime()
  if (a instanceof Date || b instanceof Date) return compareNumbers(micros(a), micros(b))
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return compareNumbers(a, b)
}

/** Microseconds of a timestamp, which plans hold as a Date or as microseconds. */
const micros = (value: PlanValue): PlanValue =>
  value instanceof Date ? BigInt(value.getTime()) * 1000n : value

/** Compares numbers and bigints exactly; other values are not numbers here. */
const compareNumbers = (a: PlanValue, b: PlanValue): number | undefined => {
  if (!isNumeric(a) || !isNumeric(b)) return undefined
  if (a < b) return -1
  return a > b ? 1 : 0
}

const isNumeric = (value: PlanValue): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value))
