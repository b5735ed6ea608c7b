import {
  type Claim,
  type ClaimOutcome,
  type DeduplicationKey,
  type DeduplicationStore,
  keyText,
  type StoredReply,
} from './deduplication-store.js'

export interface MemoryDeduplicationOptions {
  /** How long an answer is replayed, in milliseconds. Default 10 minutes. */
  readonly ttlMs?: number
  /** The most answers that are kept; beyond it the oldest go. Default 100,000. */
  readonly maxEntries?: number
  /** Default: the system's clock. */
  readonly now?: () => Date
}

interface Entry {
  readonly fingerprint: string
  reply: StoredReply | undefined
  /** End of the lease, or of the answer. */
  until: number
}

const TEN_MINUTES_MS = 10 * 60_000

/** Keeps answers in this process: the default. A duplicate that reaches another process runs again. */
export class MemoryDeduplicationStore implements DeduplicationStore {
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #now: () => number
  /** In the order of their last change, so that what ends first is found first. */
  readonly #entries = new Map<string, Entry>()

  constructor({
    ttlMs = TEN_MINUTES_MS,
    maxEntries = 100_000,
    now = () => new Date(),
  }: MemoryDeduplicationOptions = {}) {
    this.#ttlMs = ttlMs
    this.#maxEntries = maxEntries
    this.#now = () => now().getTime()
  }

  claim(key: DeduplicationKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    const text = keyText(key)
    const known = this.#entries.get(text)
    if (known !== undefined && known.until > this.#now()) {
      const { reply } = known
      return Promise.resolve(
        reply === undefined
          ? { state: 'running', fingerprint: known.fingerprint }
          : { state: 'answered', fingerprint: known.fingerprint, reply },
      )
    }
    const entry: Entry = { fingerprint, reply: undefined, until: this.#now() + leaseMs }
    this.#put(text, entry)
    this.#evict()
    return Promise.resolve({ state: 'claimed', claim: this.#claimOf(text, entry) })
  }

  #claimOf(text: string, entry: Entry): Claim {
    const isOurs = () => this.#entries.get(text) === entry
    return {
      renew: async (leaseMs) => {
        if (isOurs()) entry.until = this.#now() + leaseMs
      },
      complete: async (reply) => {
        if (!isOurs()) return false
        entry.reply = reply
        entry.until = this.#now() + this.#ttlMs
        this.#put(text, entry)
        return true
      },
      release: async () => {
        if (isOurs() && entry.reply === undefined) this.#entries.delete(text)
      },
    }
  }

  #put(text: string, entry: Entry): void {
    this.#entries.delete(text)
    this.#entries.set(text, entry)
  }

  /** Drops what has ended from the old end on, and the oldest answers beyond the limit; never a claim that holds. */
  #evict(): void {
    const now = this.#now()
    for (const [text, { until, reply }] of this.#entries) {
      const isOver = until <= now
      if (!isOver && this.#entries.size <= this.#maxEntries) return
      if (isOver || reply !== undefined) this.#entries.delete(text)
    }
  }
}
