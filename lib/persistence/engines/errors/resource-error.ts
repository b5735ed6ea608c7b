import { Unavailable } from '../../../errors.js'
import { withoutValues } from '../../../faults/driver-fault.js'
import { type DriverError, driverErrors } from './driver-errors.js'

export const LACKS_RESOURCES = 'the database has no disk space, memory or connections left: retry later'

/** PostgreSQL's insufficient_resources, and io_error, which may be caused by a full disk. */
const SQLSTATE = /^(?:53[0-9A-Z]{3}|58030)$/

/**
 * ER_DISK_FULL, ER_RECORD_FILE_FULL, ER_OUTOFMEMORY, ER_OUT_OF_SORTMEMORY, ER_CON_COUNT_ERROR,
 * ER_OUT_OF_RESOURCES, ER_CANT_CREATE_THREAD, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED,
 * ER_LOCK_TABLE_FULL, ER_TOO_MANY_CONCURRENT_TRXS, and EE_DISK_FULL, EE_OUTOFMEMORY.
 */
const ERRNOS = new Set<unknown>([5, 20, 1021, 1037, 1038, 1040, 1041, 1114, 1135, 1203, 1206, 1226, 1637])

/**
 * EE_WRITE, ER_ERROR_ON_WRITE and ER_GET_ERRNO. Their message contains the operating system's error: ENOMEM,
 * ENOSPC or EDQUOT.
 */
const OF_SYSTEM = new Set<unknown>([3, 1026, 1030])
const SYSTEM_ERROR = /\b(?:Errcode|errno|error):? ?(?:12|28|122)\b/i

/** The errors of SQLite for a full disk, a lack of memory, and failed I/O. */
const SQLITE = /^SQLITE_(?:FULL|NOMEM|IOERR)/

/**
 * Returns the caller's error if the database lacks a resource such as disk space, so that the statement had
 * no effect. Returns undefined for other errors.
 */
export function resourceError(error: unknown): Unavailable | undefined {
  return driverErrors(error).some(lacksResources)
    ? new Unavailable(LACKS_RESOURCES, withoutValues(error))
    : undefined
}

/**
 * Returns true if space is missing, which affects other writes, too. A lack of memory may affect only one
 * statement.
 */
export const lacksRoom = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, sqlState, message }) =>
      (typeof sqlState === 'string' &&
        (ROOM.has(errno) || (OF_SYSTEM.has(errno) && /\b(?:28|122)\b/.test(String(message))))) ||
      code === '53100' ||
      (typeof code === 'string' && SQLITE_ROOM.test(code)),
  )

/** SQLite reports a file that cannot grow as an I/O error of the write. */
const SQLITE_ROOM = /^SQLITE_(?:FULL|IOERR_(?:WRITE|SHMSIZE))$/

/** EE_DISK_FULL, ER_DISK_FULL, ER_RECORD_FILE_FULL */
const ROOM = new Set<unknown>([20, 1021, 1114])

function lacksResources({ code, errno, sqlState, message }: DriverError): boolean {
  if (typeof sqlState === 'string')
    return (
      ERRNOS.has(errno) || (OF_SYSTEM.has(errno) && typeof message === 'string' && SYSTEM_ERROR.test(message))
    )
  return typeof code === 'string' && (SQLSTATE.test(code) || SQLITE.test(code))
}
