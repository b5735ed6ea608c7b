import { ResourceExhausted } from '../../errors.js'
import {
  DEFAULT_TTL_MS,
  type Claim,
  type ClaimOutcome,
  type IdempotencyKey,
  type IdempotencyStore,
  keyText,
  type StoredReply,
  omittedReply,
} from './idempotency-store.js'
import { ENTRY_BYTES, type Held, TenantShares } from '../stores/tenant-shares.js'

/** Options of a `MemoryIdempotencyStore`. */
export interface MemoryIdempotencyOptions {
  /** The time for which a response can be replayed, in milliseconds. Default: 10 minutes. */
  readonly ttlMs?: number
  /**
   * Maximum number of keys of one tenant. Beyond it, the tenant's oldest responses are dropped. Default:
   * 100,000.
   */
  readonly maxEntries?: number
  /** Maximum bytes of all keys and responses, plus 1 KiB for each. Default: 64 MiB. */
  readonly maxBytes?: number
  /**
   * Maximum bytes of one tenant. Beyond it, the tenant's oldest responses are dropped. Default: a quarter of
   * `maxBytes`.
   */
  readonly maxTenantBytes?: number
  /** Default: the system clock. */
  readonly now?: () => Date
}

interface Entry extends Held {
  readonly fingerprint: string
  reply: StoredReply | undefined
}

const DEFAULT_BYTES = 64 * 1024 * 1024

/**
 * The default store, which keeps responses in this process. A duplicate that reaches another process runs
 * again. Each tenant has a share of the memory, and only the tenant's own responses are dropped for new ones.
 */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries: TenantShares<Entry>

  constructor({
    ttlMs = DEFAULT_TTL_MS,
    maxEntries = 100_000,
    maxBytes = DEFAULT_BYTES,
    maxTenantBytes = maxBytes / 4,
    now = () => new Date(),
  }: MemoryIdempotencyOptions = {}) {
    this.#ttlMs = ttlMs
    this.#now = () => now().getTime()
    this.#entries = new TenantShares({ maxBytes, maxTenantBytes, maxTenantEntries: maxEntries })
  }

  /** @throws ResourceExhausted if running calls fill the tenant's share. */
  async claim(key: IdempotencyKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    const text = keyText(key)
    const now = this.#now()
    const known = this.#entries.get(text)
    if (known !== undefined && known.until > now) {
      const { reply } = known
      return reply === undefined
        ? { state: 'running', fingerprint: known.fingerprint }
        : { state: 'done', fingerprint: known.fingerprint, reply }
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
        // A lapsed claim can still store its response if no other call has claimed the key.
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

  /** If there is no space for the response, stores that the call ran, so that it does not run again. */
  #keep(entry: Entry, reply: StoredReply): void {
    const hasRoom = this.#entries.resize(entry, entry.bytes + bytesOf(reply))
    entry.reply = hasRoom ? reply : omittedReply('room')
    this.#entries.settle(entry, this.#now() + this.#ttlMs)
  }
}

const bytesOf = ({ message, headers, trailers }: StoredReply): number =>
  [...headers, ...trailers].reduce(
    (sum, [name, value]) => sum + 2 * (name.length + value.length),
    message.byteLength,
  )

/** The store of a server whose configuration contains none. */
export class DefaultIdempotencyStore extends MemoryIdempotencyStore {}
