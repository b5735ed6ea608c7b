import { timestamp } from '../../resource/kinds/timestamp.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * Replaces each Date among SQL values by the string that a repository binds. Drivers format a Date in the
 * process's time zone, with the offset truncated to minutes. Dates outside the years 0 to 9999 are passed to
 * the driver unchanged.
 */
export function boundTimes(values: readonly unknown[], dialect: Dialect): unknown[] {
  const text = (value: Date) => dialect.values.kinds[timestamp.name].value(value, {})
  return values.map((value) => {
    if (value instanceof Date) return isWritten(value) ? text(value) : value
    return Array.isArray(value) ? boundTimes(value, dialect) : value
  })
}

/** Returns false for an invalid Date, too. */
const isWritten = (time: Date): boolean => {
  const year = time.getUTCFullYear()
  return year >= 0 && year <= 9999
}
