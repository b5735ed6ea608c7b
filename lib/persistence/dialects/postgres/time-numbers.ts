import type { Numbered } from '../values/kind-sql.js'
import { exactMicros, storedTime } from '../values/stored-time.js'

/** The time from which PostgreSQL counts microseconds. */
const START_MS = Date.UTC(2000, 0)

/** The range of times whose microseconds JavaScript numbers represent exactly. */
const EXACT = ['1714-07-29 00:12:25.259009+00', '2285-06-04 23:47:34.740991+00'] as const

/**
 * Selects times as microseconds since 2000, the format in which the server stores them, so that neither side
 * has to compute calendar dates.
 *
 * @param time - a `timestamptz` expression.
 */
export const numberedTime = (time: string): Numbered => ({
  number: `('x' || encode(timestamptz_send(${time}), 'hex'))::bit(64)::bigint`,
  text: `${time}::text`,
  isInexact: `${time} NOT BETWEEN '${EXACT[0]}' AND '${EXACT[1]}'`,
})

/** Returns the Date of a stored time or of a number of microseconds. */
export const timeOf = (stored: unknown): Date | undefined =>
  typeof stored === 'number' ? new Date(Math.floor(stored / 1000) + START_MS) : storedTime(stored)

/** Returns the time to the microsecond; see `exactMicros`. */
export const exactTimeOf = (stored: unknown, value: unknown): unknown => {
  if (typeof stored !== 'number') return exactMicros(stored, value)
  return stored % 1000 === 0 ? value : BigInt(stored) + BigInt(START_MS) * 1000n
}
