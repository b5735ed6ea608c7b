import type { AshlarError } from '../../errors.js'
import { ReportLimit } from '../../faults/report-limit.js'
import { causeOf } from './to-ashlar-error.js'

/** Says why something that a server depends on is unavailable: one record for each cause and minute. */
export class Outages {
  readonly #limit = new ReportLimit()

  /** An error without a cause whose message is complete for the caller is a reply, not an outage. */
  tell(error: AshlarError, log: (err: object, message: string) => void): void {
    const { code, cause, message, wireMessage } = error
    if (code !== 'UNAVAILABLE' || (cause === undefined && message === wireMessage)) return
    this.#limit.tell('', error, (more) => log(causeOf(error), `unavailable: ${message}${more}`))
  }
}
