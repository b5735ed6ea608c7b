/** Milliseconds since the epoch of 1000-01-01T00:00:00Z: the first instant that every database can hold. */
export const MIN_TIMESTAMP_MS = -30_610_224_000_000
/** 9999-12-31T23:59:59.999Z. */
export const MAX_TIMESTAMP_MS = 253_402_300_799_999

/**
 * The instant an RFC 3339 text names, cut to milliseconds; undefined when it is not one, when its date does not exist
 * or when it lies outside the years 1000 to 9999.
 */
export const parseTimestamp = (text: string): Date | undefined => {
  const parts = RFC3339.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as SixNumbers
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined

  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const [sign, offsetHour, offsetMinute] = [parts[8], Number(parts[9] ?? 0), Number(parts[10] ?? 0)]
  if (offsetHour > 23 || offsetMinute > 59) return undefined
  const offset = (offsetHour * 60 + offsetMinute) * 60_000 * (sign === '-' ? -1 : 1)

  const instant = Date.UTC(year, month - 1, day, hour, minute, second, ms) - offset
  return year >= 100 && instant >= MIN_TIMESTAMP_MS && instant <= MAX_TIMESTAMP_MS
    ? new Date(instant)
    : undefined
}

type SixNumbers = [number, number, number, number, number, number]

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

const daysOf = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
