import { driverErrors } from './driver-errors.js'

/** The codes for an unknown column or table: PostgreSQL's SQLSTATEs and MySQL's errors. */
const CODES: ReadonlySet<unknown> = new Set(['42703', '42P01', 1054, 1146])

/** SQLite has one code for all statement errors, so the message is compared. */
const SQLITE_TEXT = /^(?:SQLITE_ERROR: )?(?:no such (?:column|table): |table .+ has no column named )/

/** Returns true if a statement failed because the database lacks a column or table. Retrying cannot help. */
export const isSchemaMismatch = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, message }) =>
      CODES.has(code) ||
      CODES.has(errno) ||
      (code === 'SQLITE_ERROR' && typeof message === 'string' && SQLITE_TEXT.test(message)),
  )
