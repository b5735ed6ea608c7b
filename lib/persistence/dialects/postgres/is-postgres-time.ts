import { CLOCK, isDate } from '../values/is-date.js'

/** Matches a `timestamptz` or a `date`, which has no time of day. */
const TIME = new RegExp(`^(\\d{4,6})-(\\d\\d)-(\\d\\d)(?: ${CLOCK}(?:\\+00)?)?( BC)?$`)
/** PostgreSQL's range, reduced by a year at each end. */
const [LAST_YEAR, FIRST_YEAR_BC] = [294_275, 4712]

/** Returns true if a `timestamptz` or `date` column can store and return this string. */
export const isPostgresTime = (text: string): boolean => {
  if (text === 'infinity' || text === '-infinity') return true
  const [, digits, month, day, bc] = TIME.exec(text) ?? []
  if (digits === undefined) return false
  const year = Number(digits)
  if (year < 1 || year > (bc === undefined ? LAST_YEAR : FIRST_YEAR_BC)) return false
  return isDate(bc === undefined ? year : 1 - year, Number(month), Number(day))
}
