import { create, type Message } from '@bufbuild/protobuf'
import { DurationSchema, type Duration, type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { JsonFault } from './fault.js'

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/
const DURATION = /^(-?)([0-9]{1,12})(?:\.([0-9]{1,9}))?s$/
const MIN_SECONDS = -62135596800
const MAX_SECONDS = 253402300799
const MAX_DURATION = 315576000000n

/** Parses an RFC 3339 timestamp between the years 1 and 9999, with nanoseconds. */
export function readTimestamp(text: string): Timestamp {
  const match = RFC3339.exec(text)
  if (match === null) throw notATimestamp()
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (!isDay || hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59)
    throw notATimestamp()
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw notATimestamp()
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: nanosOf(match[7]) })
}

/** Parses a number of seconds with up to nine decimals, such as `1.5s`. */
export function readDuration(text: string): Duration {
  const match = DURATION.exec(text)
  if (match === null) throw notADuration()
  const seconds = BigInt(match[2] ?? '0')
  if (seconds > MAX_DURATION) throw notADuration()
  const nanos = nanosOf(match[3])
  const negative = match[1] === '-'
  return create(DurationSchema, {
    seconds: negative ? -seconds : seconds,
    nanos: negative && nanos > 0 ? -nanos : nanos,
  })
}

/**
 * Writes a Timestamp.
 * @throws RangeError outside the range of RFC 3339 and the JSON mapping.
 */
export function writeTimestamp(message: Message): string {
  const { seconds, nanos } = message as Timestamp
  const whole = Number(seconds)
  const isWhole = Number.isInteger(whole) && Number.isInteger(nanos)
  if (!isWhole || whole < MIN_SECONDS || whole > MAX_SECONDS || nanos < 0 || nanos > 999_999_999)
    throw outOfRange()
  return `${instant(whole)}${fraction(nanos)}Z`
}

/**
 * Writes a `Date`.
 * @throws RangeError for an invalid date, and outside the range of the JSON mapping.
 */
export function writeTime(time: unknown): string {
  const ms = (time as Date).getTime()
  const seconds = Math.floor(ms / 1000)
  if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) throw outOfRange()
  return `${instant(seconds)}${fraction((ms - seconds * 1000) * 1_000_000)}Z`
}

/**
 * Writes a Duration.
 * @throws RangeError outside the range of the JSON mapping, or if seconds and nanos differ in sign.
 */
export function writeDuration(message: Message): string {
  const { seconds, nanos } = message as Duration
  const mixed = (seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0)
  const isWhole = typeof seconds === 'bigint' && Number.isInteger(nanos)
  if (!isWhole || mixed || seconds > MAX_DURATION || seconds < -MAX_DURATION || Math.abs(nanos) > 999_999_999)
    throw new RangeError('a duration is out of the range of proto3 JSON')
  const whole = seconds < 0n ? -seconds : seconds
  return `${seconds < 0n || nanos < 0 ? '-' : ''}${whole}${fraction(Math.abs(nanos))}s`
}

const nanosOf = (decimals: string | undefined): number => Number((decimals ?? '').padEnd(9, '0'))

const TWO_DIGITS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'))
const two = (n: number): string => TWO_DIGITS[n] ?? ''

/**
 * Formats a time as `YYYY-MM-DDThh:mm:ss` for the years 0 to 9999. `toISOString` takes four times as long,
 * and a list page may contain a hundred times. The date is computed in eras of 400 years that begin in March,
 * so that leap days come last.
 */
function instant(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const second = seconds - days * 86_400
  if (days !== latestDay) {
    latestDate = dateOf(days)
    latestDay = days
  }
  return `${latestDate}T${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
}

/** Cached, because the times of a page often have the same date. */
let latestDay = Number.NaN
let latestDate = ''

/** Formats a day since 1970 as `YYYY-MM-DD`. */
function dateOf(days: number): string {
  const era = Math.floor((days + 719_468) / 146_097)
  const dayOfEra = days + 719_468 - era * 146_097
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${two(Math.floor(year / 100))}${two(year % 100)}-${two(month)}-${two(day)}`
}

/** Formats nanoseconds as a decimal fraction of a second with 0, 3, 6 or 9 digits. */
function fraction(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  return `.${digits.replace(/(?:000){1,2}$/, '')}`
}

const outOfRange = (): RangeError => new RangeError('a timestamp is out of the range of proto3 JSON')
const notATimestamp = (): JsonFault =>
  new JsonFault('expected an RFC 3339 timestamp such as 2026-01-31T10:00:00Z')
const notADuration = (): JsonFault => new JsonFault('expected a duration in seconds such as 1.5s')
