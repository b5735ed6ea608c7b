import { DriverFault } from '../../../faults/driver-fault.js'

/**
 * What a prepared statement failed with, perhaps because the tables have changed since it was prepared, or because the
 * server has forgotten it. Sent again it is prepared anew.
 */
export class StaleStatement extends DriverFault {}

/** invalid_sql_statement_name, and the error of a value that is read as the type its column had before. */
const CODES = new Set<unknown>(['26000', '22003', '22007', '22008', '22P02', '22P03'])

/**
 * Whether a statement that was prepared before may do better when it is prepared anew. A column it returns that has
 * another type now is told by the place in PostgreSQL that reports it: its SQLSTATE, feature_not_supported, is that of
 * much else, and its text is in the server's language.
 */
export function maybeStale(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (CODES.has(error.code)) return true
  return error.code === '0A000' && 'routine' in error && error.routine === 'RevalidateCachedQuery'
}
