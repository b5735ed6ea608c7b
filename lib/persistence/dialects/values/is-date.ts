/**
 * Returns true if the date exists. The check uses a year with the same calendar, because a Date does not
 * cover every year and interprets two-digit years as 19xx.
 */
export const isDate = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** A regular expression for the time of day. */
export const CLOCK = /(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?/.source
