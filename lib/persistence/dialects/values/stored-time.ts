/** The range of google.protobuf.Timestamp: the years 1 to 9999. A time beyond it is read as its end. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

export const isLast = (time: Date): boolean => time.getTime() >= LAST_MS

/**
 * A time as a row holds it: `YYYY-MM-DD?HH:MM:SS[.f…]` in UTC, as every dialect returns ours. It is parsed by
 * hand, because `Date.parse` costs ten times as much. Other writers store more: see `foreignTime`.
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
  // A year that begins in March ends in its leap day, and the lengths of its months have a pattern.
  // `Date.UTC` costs twice as much.
  const isLate = month > 2
  const year = digits(stored, 0) * 100 + digits(stored, 2) - (isLate ? 0 : 1)
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
  const dayOfYear = Math.floor((153 * (isLate ? month - 3 : month + 9) + 2) / 5) + digits(stored, 8) - 1
  const days = year * 365 + leapDays + dayOfYear - DAYS_TO_1970
  const seconds = digits(stored, 11) * 3600 + digits(stored, 14) * 60 + digits(stored, 17)
  last.text = stored
  last.ms = days * DAY_MS + seconds * 1000 + ms
  return new Date(last.ms)
}

const DAY_MS = 86_400_000
/** From the first of March of the year 0. */
const DAYS_TO_1970 = 719_468

/** A row that was never updated has the same time twice. */
const last = { text: '', ms: 0 }

const [ZERO, NINE, DASH, COLON, DOT, PLUS, Z] = [48, 57, 45, 58, 46, 43, 90]

const digits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO

/** A day of the years 1000 to 9999, a time to the second, and an end that says nothing but UTC. */
function isUsual(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first <= ZERO || first > NINE) return false
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH || text.charCodeAt(16) !== COLON)
    return false
  if (!(digits(text, 5) > 0 && digits(text, 8) > 0)) return false
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
 * The closest Timestamp to a time that another writer stored: `infinity` and years after 9999 are its last
 * instant, `-infinity` and years before 1 its first; a month or a day of zero is the first one. A value that
 * is not a time, which only SQLite can hold, counts as unset. So one row never makes a page fail.
 */
function foreignTime(stored: unknown): Date | undefined {
  if (typeof stored !== 'string') return undefined
  if (stored === 'infinity') return new Date(LAST_MS)
  if (stored === '-infinity') return new Date(FIRST_MS)
  const parts = FOREIGN.exec(stored)
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
    bc,
  ] = parts
  if (bc !== undefined || Number(year) === 0) return new Date(FIRST_MS)
  const instant = new Date(0)
  // No Date reaches as far as PostgreSQL; any year after the last is replaced by one.
  instant.setUTCFullYear(Math.min(Number(year), 10_000), (Number(month) || 1) - 1, Number(day) || 1)
  instant.setUTCHours(
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  )
  const shift = (Number(offset) * 60 + Number(rest)) * 60_000 * (sign === '-' ? -1 : 1)
  return new Date(Math.min(Math.max(instant.getTime() - shift, FIRST_MS), LAST_MS))
}

const DATE = /([0-9]{4,6})-(0[0-9]|1[0-2])-([0-2][0-9]|3[01])/.source
const CLOCK = /([01][0-9]|2[0-4]):([0-5][0-9])(?::([0-6][0-9])(?:\.([0-9]+))?)?/.source
const ZONE = /(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)?/.source
/** The formats of PostgreSQL and MySQL, and of a time in UTC or with an offset that SQLite reads. */
const FOREIGN = new RegExp(`^${DATE}(?:[ T]${CLOCK} ?${ZONE})?( BC)?$`)

/**
 * A stored time to the microsecond: the Date where that is all, a bigint of microseconds, or the text of
 * another writer.
 */
export function exactMicros(stored: unknown, value: unknown): unknown {
  if (typeof stored !== 'string') return value
  const usual = USUAL.exec(stored)
  if (usual === null || !(value instanceof Date)) return stored
  const rest = (usual[1] ?? '').padEnd(6, '0').slice(3)
  return rest === '000' ? value : BigInt(value.getTime()) * 1000n + BigInt(rest)
}

/** A time of the years 1000 to 9999 as PostgreSQL and MySQL return it. */
const USUAL = /^[1-9]\d{3}-(?!00)\d\d-(?!00)\d\d \d\d:\d\d:\d\d(?:\.(\d{1,6}))?(?:\+00)?$/
