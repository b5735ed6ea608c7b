import { driverErrors } from '../errors/driver-errors.js'
import type { Dialect } from '../../dialects/dialect.js'

/** InnoDB rolls the whole transaction back on a deadlock, and on a lock timeout where it is configured to. */
const MYSQL = new Set<unknown>([1205, 1213])
/** https://www.sqlite.org/lang_transaction.html: full, I/O error, out of memory, busy and interrupted. */
const SQLITE = /^SQLITE_(?:FULL|IOERR|NOMEM|BUSY|INTERRUPT)/

/**
 * Whether the database may have ended the transaction by itself because of this error. What was sent next would then be
 * committed one by one, or not at all. PostgreSQL is not asked here: rolling back to the savepoint tells.
 */
export function endedTransaction(dialect: Dialect, error: unknown): boolean {
  return driverErrors(error).some(({ code, errno, fatal }) => {
    if (dialect === 'sqlite') return typeof code === 'string' && SQLITE.test(code)
    return fatal === true || MYSQL.has(errno)
  })
}

/**
 * Whether only a question can tell: SQLite rolls everything back where a trigger raises ROLLBACK or a constraint declares it,
 * and the error is that of any other constraint.
 */
export const mayHaveRolledBack = (dialect: Dialect, error: unknown): boolean =>
  dialect === 'sqlite' &&
  driverErrors(error).some(({ code }) => typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT'))
