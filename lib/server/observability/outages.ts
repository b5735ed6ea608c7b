import type { AshlarError } from '../../errors.js'
import { ReportLimit } from '../../faults/report-limit.js'
import { causeOf } from './to-ashlar-error.js'

/** Logs why a dependency of the server is unavailable, once per cause and minute. */
export class Outages {
  readonly #limit = new ReportLimit()

  /**
   * Logs the error unless it has no cause and its message is public. Such an error is a reply, not an outage.
   */
  tell(error: AshlarError, log: (err: object, message: string) => void): void {
    const { code, cause, message, wireMessage } = error
    if (code !== 'UNAVAILABLE' || (cause === undefined && message === wireMessage)) return
    this.#limit.tell('', error, (more) => log(causeOf(error), `unavailable: ${message}${more}`))
  }
}
