import { RequestContext } from '../../context.js'
import { type Claim, withoutAnswer } from './deduplication-store.js'

/** As long as an answer is kept by default. */
const LONGEST_MS = 10 * 60_000
/** Well within what is left of a lease when an answer is not kept, so that a short failure of the store lets nobody in. */
const RETRY_MS = 1_000
/** Beyond it the oldest are given up: the store has been out of order for so many calls. */
const MAX_CALLS = 10_000

interface Unrecorded {
  readonly until: number
  /** What is still to be told to the store; undefined where the store took back what the call did. */
  readonly claim: Claim | undefined
}

/**
 * Calls that were made and whose answer the store could not keep. As long as this process lives, duplicates find them here and
 * do not run again; the store is told that they were made as soon as it can be, for other processes.
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

  /** Remembers a call whose effect lasts; its claim is completed later, without the answer. */
  add(key: string, claim: Claim): void {
    this.#put(key, { until: this.#now() + LONGEST_MS, claim })
    this.#schedule()
  }

  /** Remembers a call whose effect was rolled back, for the rest of its lease. */
  addRolledBack(key: string, leaseMs: number): void {
    this.#put(key, { until: this.#now() + leaseMs, claim: undefined })
  }

  #put(key: string, call: Unrecorded): void {
    const [oldest] = this.#calls.size < MAX_CALLS ? [] : this.#calls.keys()
    if (oldest !== undefined) this.#calls.delete(oldest)
    this.#calls.set(key, call)
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.retry(), RETRY_MS).unref()
  }

  /** Tells the store of what it does not know yet, until it fails again. */
  async retry(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [key, { claim }] of this.#calls) {
      if (!this.has(key) || claim === undefined) continue
      try {
        await claim.complete(withoutAnswer('failure'), new RequestContext())
        this.#calls.delete(key)
      } catch {
        this.#schedule()
        return
      }
    }
  }
}
