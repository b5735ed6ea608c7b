import type { Dialect } from '../../dialects/dialect.js'
import { driverErrors } from '../errors/driver-errors.js'

/**
 * Returns true if this error may mean that the database has ended the transaction. Later statements would
 * then be committed individually, or not at all.
 */
export const endedTransaction = (dialect: Dialect, error: unknown): boolean =>
  driverErrors(error).some(dialect.transactions.endsTransaction)

/** Returns true if only a query can show whether the transaction was rolled back. */
export const mayHaveRolledBack = (dialect: Dialect, error: unknown): boolean =>
  driverErrors(error).some(dialect.transactions.mayRollBack)
