import type { HashSpec } from './hash-spec.js'

/** The time for which a table's result is cached. Another process may use a more expensive spec meanwhile. */
const FRESH_MS = 600_000

/** The time a table may take to respond. */
const LONGEST_MS = 5_000

/**
 * The hash specs that the stored credentials of one field have. The table is asked when a check fails: once
 * for all that fail meanwhile, and again after ten minutes. Where it says nothing within five seconds, the
 * minter goes on with the specs that it has seen.
 */
export class SpecsInUse {
  readonly #ask: (signal: AbortSignal) => Promise<readonly unknown[]>
  readonly #now: () => number
  #askedAt = Number.NEGATIVE_INFINITY
  #pending: Promise<readonly HashSpec[]> | undefined

  /**
   * @param ask - reads the specs of all tenants' credentials.
   * @param now - milliseconds that never go back.
   */
  constructor(
    ask: (signal: AbortSignal) => Promise<readonly unknown[]>,
    now: () => number = () => performance.now(),
  ) {
    this.#ask = ask
    this.#now = now
  }

  /** Undefined while the minter knows them. */
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
      // The check has failed already: it needs no more than what is known.
      return []
    }
  }
}
