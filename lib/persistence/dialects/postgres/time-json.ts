import { exactMicros, storedTime } from '../values/stored-time.js'

/** PostgreSQL stores microseconds from here. */
const START_MS = Date.UTC(2000, 0)

/** JavaScript holds the microseconds in between exactly. */
const EXACT = ['1714-07-29 00:12:25.259009+00', '2285-06-04 23:47:34.740991+00'] as const

/**
 * A time as JSON: the number of microseconds from the year 2000, which is what the server stores, without a detour through a
 * calendar; the text where JavaScript does not hold that number exactly, and of an infinity.
 */
export function timeJson(column: string): string {
  // A column of another type is one of times to the server, as the decoder takes its text for one.
  const time = `${column}::timestamptz`
  const micros = `('x' || encode(timestamptz_send(${time}), 'hex'))::bit(64)::bigint`
  return `CASE WHEN ${time} BETWEEN '${EXACT[0]}' AND '${EXACT[1]}' THEN to_json(${micros}) ELSE to_json(${column}::text) END`
}

/** A time as a row holds it, or as `timeJson` writes it. */
export const timeOf = (stored: unknown): Date | undefined =>
  typeof stored === 'number' ? new Date(Math.floor(stored / 1000) + START_MS) : storedTime(stored)

/** The same to the microsecond, as `exactMicros`. */
export const exactTimeOf = (stored: unknown, value: unknown): unknown => {
  if (typeof stored !== 'number') return exactMicros(stored, value)
  return stored % 1000 === 0 ? value : BigInt(stored) + BigInt(START_MS) * 1000n
}
