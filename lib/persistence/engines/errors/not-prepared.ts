import { Unavailable } from '../../../errors.js'

/**
 * The server could not prepare a statement, because all clients together have reached its limit. The
 * statement was not run.
 */
export class NotPrepared extends Unavailable {
  constructor(cause: unknown) {
    super('the database accepts no more prepared statements now: retry later', cause)
  }
}
