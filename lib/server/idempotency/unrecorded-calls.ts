import { RequestContext } from '../../context.js'
import { type Claim, type Omission, omittedReply } from './idempotency-store.js'

/** The time for which a call is remembered, in milliseconds: the default lifetime of a stored response. */
const LONGEST_MS = 10 * 60_000
/** Much shorter than a lease, so that a short failure of the store does not let a duplicate run. */
const RETRY_MS = 1_000
/** The maximum number of calls. Beyond it, the oldest are dropped. */
const MAX_CALLS = 10_000

interface Unrecorded {
  readonly until: number
  /** The claim to complete; undefined if the store rolled back the call's effect. */
  readonly claim: Claim | undefined
  /** Why its response is not stored. */
  readonly omitted: Omission
}

/**
 * Calls that ran, or may have, but whose response the store could not save. While this process lives,
 * duplicates find them here and do not run again. The store is updated as soon as possible for other
 * processes.
 */
export class UnrecordedCalls {
  readonly #calls = new Map<string, Unrecorded>()
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined

  /** @param now - milliseconds since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  has(key: string): boolean {
    const call = this.#calls.get(key)
    if (call === undefined) return false
    if (call.until > this.#now()) return true
    this.#calls.delete(key)
    return false
  }

  /** Adds a call whose effect is committed, or may be. Its claim is completed later, without the response. */
  add(key: string, claim: Claim, omitted: Omission): void {
    this.#put(key, { until: this.#now() + LONGEST_MS, claim, omitted })
    this.#schedule()
  }

  /** Adds a call whose effect was rolled back, for the rest of its lease. */
  addRolledBack(key: string, leaseMs: number): void {
    this.#put(key, { until: this.#now() + leaseMs, claim: undefined, omitted: 'failure' })
  }

  #put(key: string, call: Unrecorded): void {
    const [oldest] = this.#calls.size < MAX_CALLS ? [] : this.#calls.keys()
    if (oldest !== undefined) this.#calls.delete(oldest)
    this.#calls.set(key, call)
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.retry(), RETRY_MS).unref()
  }

  /** Completes the remaining claims, until the store fails again. */
  async retry(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [key, { claim, omitted }] of this.#calls) {
      if (!this.has(key) || claim === undefined) continue
      try {
        await claim.complete(omittedReply(omitted), new RequestContext())
        this.#calls.delete(key)
      } catch {
        this.#schedule()
        return
      }
    }
  }
}
