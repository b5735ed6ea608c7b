import { Unavailable } from '../../../errors.js'
import { withoutValues } from '../../../faults/driver-fault.js'
import { type DriverError, driverErrors } from './driver-errors.js'

/** read_only_sql_transaction, of PostgreSQL. */
const SQLSTATE = '25006'

/** A read-only transaction, or a server that is read-only as a whole. */
const ERRNOS = new Set<unknown>([1792, 1836, 1874])

/** MySQL and MariaDB name the option that prevents a statement; other options concern only the statement. */
const OPTION = 1290
const READ_ONLY_OPTION = /--(?:super[-_]|innodb[-_])?read[-_]only\b/

/**
 * The caller's error for a write that a read-only database refused: a demoted primary, a replica, a server in
 * maintenance. Undefined for any other error.
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
