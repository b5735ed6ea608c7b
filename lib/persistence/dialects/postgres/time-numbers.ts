import type { Numbered } from '../values/kind-sql.js'
import { exactMicros, storedTime } from '../values/stored-time.js'

/** PostgreSQL stores microseconds from here. */
const START_MS = Date.UTC(2000, 0)

/** JavaScript holds the microseconds in between exactly. */
const EXACT = ['1714-07-29 00:12:25.259009+00', '2285-06-04 23:47:34.740991+00'] as const

/**
 * Times as microseconds from the year 2000: what the server stores, without a detour through a calendar.
 * @param time - a `timestamptz`.
 */
export const numberedTime = (time: string): Numbered => ({
  number: `('x' || encode(timestamptz_send(${time}), 'hex'))::bit(64)::bigint`,
  text: `${time}::text`,
  isInexact: `${time} NOT BETWEEN '${EXACT[0]}' AND '${EXACT[1]}'`,
})

/** A time as a row holds it, or as a number. */
export const timeOf = (stored: unknown): Date | undefined =>
  typeof stored === 'number' ? new Date(Math.floor(stored / 1000) + START_MS) : storedTime(stored)

/** The same to the microsecond, as `exactMicros`. */
export const exactTimeOf = (stored: unknown, value: unknown): unknown => {
  if (typeof stored !== 'number') return exactMicros(stored, value)
  return stored % 1000 === 0 ? value : BigInt(stored) + BigInt(START_MS) * 1000n
}
