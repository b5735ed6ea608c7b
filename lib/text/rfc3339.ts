/** 1000-01-01T00:00:00Z in milliseconds since the epoch, the first time that every database can store. */
export const MIN_TIMESTAMP_MS = -30_610_224_000_000
/** 9999-12-31T23:59:59.999Z in milliseconds since the epoch. */
export const MAX_TIMESTAMP_MS = 253_402_300_799_999

/**
 * Parses an RFC 3339 timestamp, truncated to milliseconds. Undefined if it is malformed, if its date does not
 * exist, or if it is outside the years 1000 to 9999.
 */
export const parseTimestamp = (text: string): Date | undefined => {
  if (!RFC3339.test(text)) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)]
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined

  const offset = offsetMinutes(text)
  if (offset === undefined) return undefined
  const instant = Date.UTC(year, month - 1, day, hour, minute, second, millis(text)) - offset * 60_000
  // Date.UTC interprets years before 100 as years of the twentieth century.
  return year >= 100 && instant >= MIN_TIMESTAMP_MS && instant <= MAX_TIMESTAMP_MS
    ? new Date(instant)
    : undefined
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/
const [ZERO, NINE, DOT, MINUS] = [0x30, 0x39, 0x2e, 0x2d]

const twoDigits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO

const millis = (text: string): number => {
  if (text.charCodeAt(19) !== DOT) return 0
  let ms = 0
  for (let at = 20, scale = 100; scale >= 1; at++, scale /= 10) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) break
    ms += (code - ZERO) * scale
  }
  return ms
}

/** Returns the offset in minutes east of Greenwich; undefined for an invalid offset. */
const offsetMinutes = (text: string): number | undefined => {
  const last = text.charCodeAt(text.length - 1)
  if (last > NINE) return 0
  const [hour, minute] = [twoDigits(text, text.length - 5), twoDigits(text, text.length - 2)]
  if (hour > 23 || minute > 59) return undefined
  return (hour * 60 + minute) * (text.charCodeAt(text.length - 6) === MINUS ? -1 : 1)
}

const daysOf = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
