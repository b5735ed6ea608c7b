import { QueryFailedError } from 'typeorm'
import { Aborted } from '../../../errors.js'

/** Throws the driver's error inside a TypeORM error. */
export function unwrapped(error: unknown): never {
  throw error instanceof QueryFailedError ? (error.driverError as unknown) : error
}

/** A procedure or a prepared text may end a transaction, which no text shows. */
export class EndedBySql extends Aborted {
  constructor() {
    super('a statement has ended the transaction: leave COMMIT and ROLLBACK to the transaction')
  }
}
