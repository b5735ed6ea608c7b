import { driverErrors } from './driver-errors.js'

/** PostgreSQL's SQLSTATEs of an unknown column and an unknown table, and the errors of MySQL. */
const CODES: ReadonlySet<unknown> = new Set(['42703', '42P01', 1054, 1146])

/** SQLite has one code for all errors of a statement. */
const SQLITE_TEXT = /^(?:SQLITE_ERROR: )?(?:no such (?:column|table): |table .+ has no column named )/

/** True if a statement failed because the database lacks a column or a table. A retry cannot help. */
export const isSchemaMismatch = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, message }) =>
      CODES.has(code) ||
      CODES.has(errno) ||
      (code === 'SQLITE_ERROR' && typeof message === 'string' && SQLITE_TEXT.test(message)),
  )
