/** The range of google.protobuf.Timestamp: the years 1 to 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Parses the time of a row: `YYYY-MM-DD?HH:MM:SS[.f…]` in UTC, as every dialect returns times that Ashlar
 * wrote. This parser is ten times as fast as `Date.parse`. Other formats are parsed by `foreignTime`.
 */
export function storedTime(stored: unknown): Date | undefined {
  if (stored === last.text) return new Date(last.ms)
  if (typeof stored !== 'string' || !isUsual(stored)) return foreignTime(stored)
  let ms = 0
  if (stored.charCodeAt(19) === DOT) {
    let scale = 100
    for (let at = 20; scale >= 1; at++, scale /= 10) {
      const digit = stored.charCodeAt(at) - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      ms += digit * scale
    }
  }
  const month = digits(stored, 5)
  const day = digits(stored, 8)
  const calendarYear = digits(stored, 0) * 100 + digits(stored, 2)
  // SQLite can store 30 February.
  if (day > 28) {
    const isLeap = calendarYear % 4 === 0 && (calendarYear % 100 !== 0 || calendarYear % 400 === 0)
    if (day > (month === 2 ? (isLeap ? 29 : 28) : 30 + ((month + (month >> 3)) & 1))) return undefined
  }
  // If a year begins in March, it ends with the leap day, and the month lengths follow a pattern. `Date.UTC`
  // takes twice as long.
  const isLate = month > 2
  const year = calendarYear - (isLate ? 0 : 1)
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
  const dayOfYear = Math.floor((153 * (isLate ? month - 3 : month + 9) + 2) / 5) + day - 1
  const days = year * 365 + leapDays + dayOfYear - DAYS_TO_1970
  const seconds = digits(stored, 11) * 3600 + digits(stored, 14) * 60 + digits(stored, 17)
  last.text = stored
  last.ms = days * DAY_MS + seconds * 1000 + ms
  return new Date(last.ms)
}

const DAY_MS = 86_400_000
/** The number of days from 1 March of the year 0 to 1970. */
const DAYS_TO_1970 = 719_468

/** Caches the last time, because a row that was never updated has the same time twice. */
const last = { text: '', ms: 0 }

const [ZERO, NINE, DASH, COLON, DOT, PLUS, Z] = [48, 57, 45, 58, 46, 43, 90]

const digits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO

/** Returns true for a date in the years 1000 to 9999 with a time to the second and at most a UTC suffix. */
function isUsual(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first <= ZERO || first > NINE) return false
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH || text.charCodeAt(16) !== COLON)
    return false
  const month = digits(text, 5)
  if (!(month > 0 && month <= 12 && digits(text, 8) > 0)) return false
  const end = text.length
  if (end === 19 || text.charCodeAt(end - 1) === Z) return true
  if (text.charCodeAt(end - 3) === PLUS) return digits(text, end - 2) === 0
  const [third, fifth] = [text.charCodeAt(end - 3), text.charCodeAt(end - 5)]
  return (
    text.charCodeAt(19) === DOT &&
    isDigit(text.charCodeAt(end - 1)) &&
    third !== COLON &&
    fifth !== PLUS &&
    fifth !== DASH
  )
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/**
 * Parses a time in another format. Returns undefined for values that a Timestamp cannot represent:
 * `infinity`, years before 1 or after 9999, a month or day of zero, and other strings, which only SQLite
 * stores.
 */
function foreignTime(stored: unknown): Date | undefined {
  const parts = typeof stored === 'string' ? FOREIGN.exec(stored) : null
  if (parts === null) return undefined
  const [
    ,
    year = '',
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    sign,
    offset = '0',
    rest = '0',
  ] = parts
  const instant = new Date(0)
  instant.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (instant.getUTCDate() !== Number(day)) return undefined
  instant.setUTCHours(
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  )
  const shift = (Number(offset) * 60 + Number(rest)) * 60_000 * (sign === '-' ? -1 : 1)
  const time = instant.getTime() - shift
  return time >= FIRST_MS && time <= LAST_MS ? new Date(time) : undefined
}

const DATE = /([0-9]{4})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])/.source
const CLOCK = /([01][0-9]|2[0-4]):([0-5][0-9])(?::([0-6][0-9])(?:\.([0-9]+))?)?/.source
const ZONE = /(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)?/.source
/** Matches the formats of PostgreSQL and MySQL, and SQLite's with UTC or an offset. */
const FOREIGN = new RegExp(`^${DATE}(?:[ T]${CLOCK} ?${ZONE})?$`)

/** Returns a date in the years 1 to 9999, or undefined for other values. */
export const storedDate = (stored: unknown): string | undefined =>
  typeof stored === 'string' && stored.length === 10 && foreignTime(stored) !== undefined ? stored : undefined

/**
 * Returns a stored time to the microsecond: the Date if that is exact, a bigint of microseconds, or the
 * string of another writer.
 */
export function exactMicros(stored: unknown, value: unknown): unknown {
  if (typeof stored !== 'string') return value
  const usual = USUAL.exec(stored)
  if (usual === null || !(value instanceof Date)) return stored
  const rest = (usual[1] ?? '').padEnd(6, '0').slice(3)
  return rest === '000' ? value : BigInt(value.getTime()) * 1000n + BigInt(rest)
}

/** Matches a time in the years 1000 to 9999 as PostgreSQL and MySQL return it. */
const USUAL = /^[1-9]\d{3}-(?!00)\d\d-(?!00)\d\d \d\d:\d\d:\d\d(?:\.(\d{1,6}))?(?:\+00)?$/
