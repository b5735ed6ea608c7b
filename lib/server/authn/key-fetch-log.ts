import type { Logger } from '../observability/logger.js'

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000

/**
 * Logs that an issuer's keys could not be fetched. It logs the first failure at once, the next after one
 * minute, and then doubles the interval up to one hour. It also logs the recovery.
 */
export class KeyFetchLog {
  readonly #loggerOf: () => Logger
  readonly #issuer: string
  readonly #now: () => number
  #failures = 0
  #pauseMs = FIRST_PAUSE_MS
  #quietUntil = Number.NEGATIVE_INFINITY

  /** @param now - milliseconds since the epoch. */
  constructor(issuer: string, loggerOf: () => Logger, now: () => number) {
    this.#issuer = issuer
    this.#loggerOf = loggerOf
    this.#now = now
  }

  failed(error: unknown, hasKeys: boolean): void {
    this.#failures++
    const now = this.#now()
    if (now < this.#quietUntil) return
    if (this.#failures > 1) this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#quietUntil = now + this.#pauseMs
    const fields = { issuer: this.#issuer, failures: this.#failures, err: withCause(error) }
    this.#loggerOf().warn(
      fields,
      hasKeys
        ? 'the keys of the issuer could not be fetched: the known ones stay in use'
        : 'the keys of the issuer could not be fetched: no token can be verified',
    )
  }

  fetched(): void {
    if (this.#failures > 0)
      this.#loggerOf().info(
        { issuer: this.#issuer, failures: this.#failures },
        'the keys of the issuer were fetched',
      )
    this.#failures = 0
    this.#pauseMs = FIRST_PAUSE_MS
    this.#quietUntil = Number.NEGATIVE_INFINITY
  }
}

/** Returns the name of an error and its message. `fetch` reports the reason of a failure only in `cause`. */
const withCause = (error: unknown): { readonly name: string; readonly message: string } => {
  if (!(error instanceof Error))
    return { name: typeof error, message: 'it threw a value that is not an error' }
  const { name, message, cause } = error
  return { name, message: cause instanceof Error ? `${message}: ${cause.message}` : message }
}
