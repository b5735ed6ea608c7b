import type { HashSpec } from './hash-spec.js'

/**
 * The time in milliseconds for which a table's hash parameters are cached. Meanwhile, another process may use
 * more expensive ones.
 */
const FRESH_MS = 600_000

/** The maximum time in milliseconds to wait for the table. */
const LONGEST_MS = 5_000

/**
 * The hash parameters of one field's stored credentials. The table is read when a check fails, once for all
 * concurrent failures, and again after ten minutes. If it does not respond within five seconds, the minter
 * continues with the known parameters.
 */
export class SpecsInUse {
  readonly #ask: (signal: AbortSignal) => Promise<readonly unknown[]>
  readonly #now: () => number
  #askedAt = Number.NEGATIVE_INFINITY
  #pending: Promise<readonly HashSpec[]> | undefined

  /**
   * @param ask - reads the hash parameters of all tenants' credentials.
   * @param now - a monotonic clock in milliseconds.
   */
  constructor(
    ask: (signal: AbortSignal) => Promise<readonly unknown[]>,
    now: () => number = () => performance.now(),
  ) {
    this.#ask = ask
    this.#now = now
  }

  /** Returns undefined if the minter already knows the parameters. */
  read(): Promise<readonly HashSpec[]> | undefined {
    if (this.#pending === undefined && this.#now() - this.#askedAt >= FRESH_MS) {
      this.#askedAt = this.#now()
      this.#pending = this.#read().finally(() => (this.#pending = undefined))
    }
    return this.#pending
  }

  async #read(): Promise<readonly HashSpec[]> {
    try {
      const found = await this.#ask(AbortSignal.timeout(LONGEST_MS))
      return [...new Set(found)].filter((algo) => typeof algo === 'string').map((algo) => ({ algo }))
    } catch {
      // The check has already failed, so the known parameters are sufficient.
      return []
    }
  }
}
