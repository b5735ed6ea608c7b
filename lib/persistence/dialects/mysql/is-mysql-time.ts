import { CLOCK, isDate } from '../values/is-date.js'

/** A `date` column has no time of day. */
const TIME = new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d)(?: ${CLOCK})?$`)

/**
 * True if a `datetime` or a `date` column can hold and return this text. A writer that is not strict can
 * store a month or a day of zero.
 */
export const isMysqlTime = (text: string): boolean => {
  const [, ...digits] = TIME.exec(text) ?? []
  const [year, month, day] = digits.map(Number)
  return year !== undefined && isDate(year, month || 1, day || 1)
}
