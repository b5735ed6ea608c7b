import { isDeepStrictEqual } from 'node:util'

/** Copies a value. structuredClone takes microseconds even for values that are copied in one step. */
export const copied = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return new Date(value)
  return value instanceof Uint8Array ? Uint8Array.from(value) : structuredClone(value)
}

/**
 * Returns true if a property has the same value as before. Null equals undefined, and only the content is
 * compared, not the class.
 */
export const isSame = (before: unknown, after: unknown): boolean => {
  if ((before ?? undefined) === (after ?? undefined)) return true
  if (before instanceof Date && after instanceof Date) return before.getTime() === after.getTime()
  if (before instanceof Uint8Array && after instanceof Uint8Array) return Buffer.compare(before, after) === 0
  return isDeepStrictEqual(before, copied(after))
}
