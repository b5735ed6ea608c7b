import type { Dialect } from '../../dialects/dialect.js'
import { driverErrors } from '../errors/driver-errors.js'

/**
 * True if the database may have ended the transaction because of this error. Later statements would then be
 * committed one by one or not at all.
 */
export const endedTransaction = (dialect: Dialect, error: unknown): boolean =>
  driverErrors(error).some(dialect.transactions.endsTransaction)

/** True if only a query can show whether the transaction was rolled back. */
export const mayHaveRolledBack = (dialect: Dialect, error: unknown): boolean =>
  driverErrors(error).some(dialect.transactions.mayRollBack)
