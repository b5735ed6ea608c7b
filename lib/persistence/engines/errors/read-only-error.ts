import { Unavailable } from '../../../errors.js'
import { withoutValues } from '../../../faults/driver-fault.js'
import { type DriverError, driverErrors } from './driver-errors.js'

/** PostgreSQL's read_only_sql_transaction. */
const SQLSTATE = '25006'

/** The errors of a read-only transaction or server. */
const ERRNOS = new Set<unknown>([1792, 1836, 1874])

/**
 * The error that an option of MySQL or MariaDB prevents the statement. Only the read-only options concern all
 * writes.
 */
const OPTION = 1290
const READ_ONLY_OPTION = /--(?:super[-_]|innodb[-_])?read[-_]only\b/

/**
 * Returns the caller's error for a write that a read-only database rejected, such as a demoted primary, a
 * replica, or a server in maintenance. Returns undefined for other errors.
 */
export function readOnlyError(error: unknown): Unavailable | undefined {
  return driverErrors(error).some(isReadOnly)
    ? new Unavailable(TAKES_NO_WRITES, withoutValues(error))
    : undefined
}

export const TAKES_NO_WRITES = 'the database accepts no writes at the moment: retry later'

function isReadOnly({ code, errno, sqlState, message }: DriverError): boolean {
  if (typeof sqlState === 'string') {
    if (errno === OPTION) return typeof message === 'string' && READ_ONLY_OPTION.test(message)
    return ERRNOS.has(errno)
  }
  return code === SQLSTATE || (typeof code === 'string' && code.startsWith('SQLITE_READONLY'))
}
