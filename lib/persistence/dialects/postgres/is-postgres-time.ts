import { CLOCK, isDate } from '../values/is-date.js'

/** A `date` column has no time of day. */
const TIME = new RegExp(`^(\\d{4,6})-(\\d\\d)-(\\d\\d)(?: ${CLOCK}(?:\\+00)?)?( BC)?$`)
/** The range of PostgreSQL, less a year at each end. */
const [LAST_YEAR, FIRST_YEAR_BC] = [294_275, 4712]

/** True if a `timestamptz` or a `date` column can hold and return this text. */
export const isPostgresTime = (text: string): boolean => {
  if (text === 'infinity' || text === '-infinity') return true
  const [, digits, month, day, bc] = TIME.exec(text) ?? []
  if (digits === undefined) return false
  const year = Number(digits)
  if (year < 1 || year > (bc === undefined ? LAST_YEAR : FIRST_YEAR_BC)) return false
  return isDate(bc === undefined ? year : 1 - year, Number(month), Number(day))
}
