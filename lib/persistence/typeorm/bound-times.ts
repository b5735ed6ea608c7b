import { timestamp } from '../../resource/kinds/timestamp.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * Values of SQL in which each Date is the text that a repository binds. Drivers write a Date in the zone of
 * the process, whose offset they cut to minutes. Dates outside of the years 0 to 9999 are left to the driver.
 */
export function boundTimes(values: readonly unknown[], dialect: Dialect): unknown[] {
  const text = (value: Date) => dialect.values.kinds[timestamp.name].value(value, {})
  return values.map((value) => {
    if (value instanceof Date) return isWritten(value) ? text(value) : value
    return Array.isArray(value) ? boundTimes(value, dialect) : value
  })
}

/** False for an invalid Date. */
const isWritten = (time: Date): boolean => {
  const year = time.getUTCFullYear()
  return year >= 0 && year <= 9999
}
