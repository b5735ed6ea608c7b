import { Unavailable } from '../../../errors.js'

/**
 * The server had no room to prepare a statement, so that it has not run. Another client may have taken all
 * that there is.
 */
export class NotPrepared extends Unavailable {
  constructor(cause: unknown) {
    super('the database accepts no more prepared statements now: retry later', cause)
  }
}
