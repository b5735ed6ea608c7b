import { DriverFault } from '../../../faults/driver-fault.js'

/**
 * A prepared statement failed, possibly because tables have changed or the server has discarded it. Sending
 * it again prepares it again.
 */
export class StaleStatement extends DriverFault {}

/**
 * The error codes of `invalid_sql_statement_name`, and of errors for values that are read, written or
 * compared with the column's previous type.
 */
const CODES = new Set<unknown>(['26000', '22003', '22007', '22008', '22P02', '22P03', '42804', '42883'])

/**
 * Returns true if a prepared statement may succeed when it is prepared again. A result column with a new type
 * is recognized by the source location in PostgreSQL that reports it. Its SQLSTATE, feature_not_supported,
 * has many other causes, and its message is localized.
 */
export function maybeStale(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (CODES.has(error.code)) return true
  return error.code === '0A000' && 'routine' in error && error.routine === 'RevalidateCachedQuery'
}
