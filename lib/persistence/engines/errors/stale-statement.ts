import { DriverFault } from '../../../faults/driver-fault.js'

/**
 * A prepared statement failed, perhaps because the tables have changed, or because the server has forgotten
 * it. When it is sent again, it is prepared again.
 */
export class StaleStatement extends DriverFault {}

/**
 * invalid_sql_statement_name, and the errors of a value that is read, written or compared as the column's
 * previous type.
 */
const CODES = new Set<unknown>(['26000', '22003', '22007', '22008', '22P02', '22P03', '42804', '42883'])

/**
 * True if a prepared statement may succeed when it is prepared again. A returned column with a new type is
 * recognized by the place in PostgreSQL that reports it: its SQLSTATE, feature_not_supported, has many other
 * causes, and its text is in the server's language.
 */
export function maybeStale(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (CODES.has(error.code)) return true
  return error.code === '0A000' && 'routine' in error && error.routine === 'RevalidateCachedQuery'
}
