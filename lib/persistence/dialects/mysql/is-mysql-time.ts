import { CLOCK, isDate } from '../values/is-date.js'

/** Matches a `datetime`, or a `date`, which has no time of day. */
const TIME = new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d)(?: ${CLOCK})?$`)

/**
 * True if a `datetime` or `date` column can store and return this string. Without strict mode, MySQL can also
 * store a month or day of zero.
 */
export const isMysqlTime = (text: string): boolean => {
  const [, ...digits] = TIME.exec(text) ?? []
  const [year, month, day] = digits.map(Number)
  return year !== undefined && isDate(year, month || 1, day || 1)
}
