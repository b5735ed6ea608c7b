import { ResourceExhausted } from '../../errors.js'
import {
  type Claim,
  type ClaimOutcome,
  type DeduplicationKey,
  type DeduplicationStore,
  keyText,
  type StoredReply,
  withoutAnswer,
} from './deduplication-store.js'
import { ENTRY_BYTES, type Held, TenantShares } from '../stores/tenant-shares.js'

export interface MemoryDeduplicationOptions {
  /** How long an answer is replayed, in milliseconds. Default 10 minutes. */
  readonly ttlMs?: number
  /** The most keys that are remembered of one tenant; beyond it its oldest replies go. Default 100,000. */
  readonly maxEntries?: number
  /** Bytes of all keys and replies, with 1 KiB for each on top. Default 64 MiB. */
  readonly maxBytes?: number
  /** The same of one tenant; beyond it its oldest replies go. Default a quarter of `maxBytes`. */
  readonly maxTenantBytes?: number
  /** Default: the system's clock. */
  readonly now?: () => Date
}

interface Entry extends Held {
  readonly fingerprint: string
  reply: StoredReply | undefined
}

const TEN_MINUTES_MS = 10 * 60_000
const DEFAULT_BYTES = 64 * 1024 * 1024

/**
 * Keeps replies in this process: the default. A duplicate that reaches another process runs again. Each tenant has a share of
 * the memory, and makes room out of its own replies.
 */
export class MemoryDeduplicationStore implements DeduplicationStore {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries: TenantShares<Entry>

  constructor({
    ttlMs = TEN_MINUTES_MS,
    maxEntries = 100_000,
    maxBytes = DEFAULT_BYTES,
    maxTenantBytes = maxBytes / 4,
    now = () => new Date(),
  }: MemoryDeduplicationOptions = {}) {
    this.#ttlMs = ttlMs
    this.#now = () => now().getTime()
    this.#entries = new TenantShares({ maxBytes, maxTenantBytes, maxTenantEntries: maxEntries })
  }

  /** @throws ResourceExhausted where the tenant's share is full of calls that still run. */
  async claim(key: DeduplicationKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    const text = keyText(key)
    const now = this.#now()
    const known = this.#entries.get(text)
    if (known !== undefined && known.until > now) {
      const { reply } = known
      return reply === undefined
        ? { state: 'running', fingerprint: known.fingerprint }
        : { state: 'answered', fingerprint: known.fingerprint, reply }
    }
    if (known !== undefined) this.#entries.delete(known)
    this.#entries.sweep(now, (lapsed) => this.#entries.delete(lapsed))
    const entry: Entry = {
      key: text,
      tenant: key.tenant,
      fingerprint,
      reply: undefined,
      bytes: ENTRY_BYTES + 2 * text.length,
      until: now + leaseMs,
      isSettled: false,
    }
    if (!this.#entries.add(entry))
      throw new ResourceExhausted('too many calls with a request_id are running: retry later')
    return { state: 'claimed', claim: this.#claimOf(entry) }
  }

  #claimOf(entry: Entry): Claim {
    const isOurs = () => this.#entries.get(entry.key) === entry
    return {
      renew: async (leaseMs) => {
        if (isOurs() && !entry.isSettled) this.#entries.extend(entry, this.#now() + leaseMs)
      },
      complete: async (reply) => {
        // A claim that has lapsed, and that nobody has taken since, is still good for its answer.
        if (!isOurs() && (this.#entries.get(entry.key) !== undefined || !this.#entries.add(entry)))
          return false
        this.#keep(entry, reply)
        return true
      },
      release: async () => {
        if (isOurs() && !entry.isSettled) this.#entries.delete(entry)
      },
    }
  }

  /** Where there is no room for the answer, that there was one is remembered, so that the call does not run again. */
  #keep(entry: Entry, reply: StoredReply): void {
    const hasRoom = this.#entries.resize(entry, entry.bytes + bytesOf(reply))
    entry.reply = hasRoom ? reply : withoutAnswer('room')
    this.#entries.settle(entry, this.#now() + this.#ttlMs)
  }
}

const bytesOf = ({ message, headers, trailers }: StoredReply): number =>
  [...headers, ...trailers].reduce(
    (sum, [name, value]) => sum + 2 * (name.length + value.length),
    message.byteLength,
  )
