import { MAX_TIMESTAMP_MS, MIN_TIMESTAMP_MS } from '../../query/rfc3339.js'
import { exactMicros, storedTime } from '../values/stored-time.js'

/** PostgreSQL stores microseconds from here, in 64 bits, of which the least and the most are the infinities. */
const START = BigInt(Date.UTC(2000, 0)) * 1000n
const START_MS = Number(START / 1000n)
const FIRST = BigInt(MIN_TIMESTAMP_MS) * 1000n - START
const LAST = BigInt(MAX_TIMESTAMP_MS) * 1000n - START
const INFINITY = 2 ** 63

/** A column of times as microseconds from the year 2000: what the server stores, without a detour through a calendar. */
export const microsOf = (column: string): string =>
  `('x' || encode(timestamptz_send(${column}), 'hex'))::bit(64)::bigint`

/**
 * Whether JavaScript does not hold such a number exactly. It holds those of the years 1715 to 2284, whole seconds of the years 1000
 * to 9999, such as the last day that stands for never, and the infinities.
 */
export const isInexact = (micros: string): string =>
  `${micros} NOT BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}` +
  ` AND (${micros} % 1000000 <> 0 OR ${micros} NOT BETWEEN ${FIRST} AND ${LAST})` +
  ` AND ${micros} NOT IN ('${2n ** 63n - 1n}', '${-(2n ** 63n)}')`

/** A time as a text, or as the number of `microsOf`. */
export const timeOf = (stored: unknown): Date | undefined => {
  if (typeof stored !== 'number') return storedTime(stored)
  return Math.abs(stored) === INFINITY
    ? storedTime(infinity(stored))
    : new Date(Math.floor(stored / 1000) + START_MS)
}

/** The same to the microsecond, as `exactMicros`. */
export const exactTimeOf = (stored: unknown, value: unknown): unknown => {
  if (typeof stored !== 'number') return exactMicros(stored, value)
  if (Math.abs(stored) === INFINITY) return infinity(stored)
  return stored % 1000 === 0 ? value : BigInt(stored) + START
}

const infinity = (micros: number): string => (micros > 0 ? 'infinity' : '-infinity')
