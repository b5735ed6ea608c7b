import { isDeepStrictEqual } from 'node:util'

/** structuredClone costs microseconds, also for what is copied in a step. */
export const copied = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return new Date(value)
  return value instanceof Uint8Array ? Uint8Array.from(value) : structuredClone(value)
}

/**
 * True if a property of an entity holds the same as before. Null is the same as undefined, and only content
 * counts, not its class.
 */
export const isSame = (before: unknown, after: unknown): boolean => {
  if ((before ?? undefined) === (after ?? undefined)) return true
  if (before instanceof Date && after instanceof Date) return before.getTime() === after.getTime()
  if (before instanceof Uint8Array && after instanceof Uint8Array) return Buffer.compare(before, after) === 0
  return isDeepStrictEqual(before, copied(after))
}
