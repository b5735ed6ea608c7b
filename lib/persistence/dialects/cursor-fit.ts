import type { Dialect } from './dialect.js'
import type { OrderTerm } from '../query/order-by.js'
import { type PageCursor, malformed } from '../query/page-token.js'
import type { PlanColumn } from '../query/plan.js'

/**
 * Refuses a cursor that no row of this database could have made: a comparison with its values would fail.
 * @param dialect - undefined in memory, which holds what we write alone.
 * @throws InvalidArgument on `page_token`.
 */
export const checkCursor = (
  cursor: PageCursor | undefined,
  terms: readonly OrderTerm[],
  dialect?: Dialect,
): void => {
  if (cursor?.kind !== 'keyset') return
  for (const [i, { column }] of terms.entries())
    if (!isOfDatabase(column, cursor.values[i], dialect)) malformed()
}

/** PostgreSQL has NaN and infinities, SQLite infinities; of a time only the databases have other texts than ours, and SQLite numbers. */
const isOfDatabase = (column: PlanColumn, value: unknown, dialect: Dialect | undefined): boolean => {
  if (typeof value === 'number' && !Number.isFinite(value))
    return dialect === 'postgres' || (dialect === 'sqlite' && !Number.isNaN(value))
  if (column.kind !== 'timestamp' || (typeof value !== 'string' && typeof value !== 'number')) return true
  const text = typeof value === 'string' ? value : ''
  switch (dialect) {
    case undefined:
      return false
    case 'sqlite':
      return true
    case 'postgres':
      return text === 'infinity' || text === '-infinity' || isPostgresTime(text)
    case 'mysql':
    case 'mariadb':
      return isMysqlTime(text)
  }
}

const CLOCK = /(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?/.source
const MYSQL_TIME = new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d) ${CLOCK}$`)
const POSTGRES_TIME = new RegExp(`^(\\d{4,6})-(\\d\\d)-(\\d\\d) ${CLOCK}(?:\\+00)?( BC)?$`)
/** What PostgreSQL can hold, less a year at each end. */
const [LAST_YEAR, FIRST_YEAR_BC] = [294_275, 4712]

/** A writer that is not strict can store dates with a month or a day of zero. */
const isMysqlTime = (text: string): boolean => {
  const [, ...digits] = MYSQL_TIME.exec(text) ?? []
  const [year, month, day] = digits.map(Number)
  return year !== undefined && isDate(year, month || 1, day || 1)
}

const isPostgresTime = (text: string): boolean => {
  const [, digits, month, day, bc] = POSTGRES_TIME.exec(text) ?? []
  if (digits === undefined) return false
  const year = Number(digits)
  if (year < 1 || year > (bc === undefined ? LAST_YEAR : FIRST_YEAR_BC)) return false
  return isDate(bc === undefined ? year : 1 - year, Number(month), Number(day))
}

/** Asks of a year with the same days, because a Date holds neither every year nor takes two digits for one. */
const isDate = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
