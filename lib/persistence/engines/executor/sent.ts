import { QueryFailedError } from 'typeorm'
import { Aborted } from '../../../errors.js'

/** Throws the driver's error that a TypeORM error wraps. */
export function unwrapped(error: unknown): never {
  throw error instanceof QueryFailedError ? (error.driverError as unknown) : error
}

/**
 * The error of a transaction that a procedure or a prepared statement ended, so that the statement's SQL does
 * not show it.
 */
export class EndedBySql extends Aborted {
  constructor() {
    super('a statement has ended the transaction: do not send COMMIT or ROLLBACK yourself')
  }
}
