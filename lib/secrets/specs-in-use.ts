import type { HashSpec } from './hash-spec.js'

/**
 * Milliseconds for which a table's specs are cached. Meanwhile, another process may use a more expensive
 * spec.
 */
const FRESH_MS = 600_000

/** Milliseconds that a table may take to respond. */
const LONGEST_MS = 5_000

/**
 * The hash specs of one field's stored credentials. The table is read when a check fails: once for all checks
 * that fail concurrently, and again after ten minutes. If it does not respond within five seconds, the minter
 * continues with the specs that it knows.
 */
export class SpecsInUse {
  readonly #ask: (signal: AbortSignal) => Promise<readonly unknown[]>
  readonly #now: () => number
  #askedAt = Number.NEGATIVE_INFINITY
  #pending: Promise<readonly HashSpec[]> | undefined

  /**
   * @param ask - reads the specs of all tenants' credentials.
   * @param now - a monotonic clock, in milliseconds.
   */
  constructor(
    ask: (signal: AbortSignal) => Promise<readonly unknown[]>,
    now: () => number = () => performance.now(),
  ) {
    this.#ask = ask
    this.#now = now
  }

  /** Returns undefined if the minter already knows the specs. */
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
      // The check has failed anyway, so the known specs are sufficient.
      return []
    }
  }
}
