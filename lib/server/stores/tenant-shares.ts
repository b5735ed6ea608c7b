import { type QueueNode, Queue } from './queue.js'

/** The limits of an in-memory store. */
export interface ShareLimits {
  /** Bytes of all tenants together. */
  readonly maxBytes: number
  /** Bytes of one tenant. */
  readonly maxTenantBytes: number
  /** Entries of one tenant. */
  readonly maxTenantEntries: number
}

/** The memory that an entry needs apart from its content: objects, strings, and places in maps and queues. */
export const ENTRY_BYTES = 1024

/** An entry of a tenant. It is open until it is settled. Only settled entries are removed for new ones. */
export interface Held {
  readonly key: string
  readonly tenant: string
  bytes: number
  /**
   * The end of the entry in milliseconds since the epoch: the lease of an open entry, or the expiry of a
   * settled one.
   */
  until: number
  isSettled: boolean
}

interface Share<E extends Held> {
  readonly entries: Map<string, Places<E>>
  readonly settled: Queue<E>
  bytes: number
}

interface Places<E extends Held> {
  readonly entry: E
  /** The node in the queue of all open, or all settled, entries. */
  inAll: QueueNode<E>
  /** The node in the queue of its tenant's settled entries. */
  inShare: QueueNode<E> | undefined
}

/**
 * The entries of an in-memory store, limited in bytes in total and per tenant. Only a tenant's own oldest
 * entries are removed for its new ones, so no tenant loses an entry because of another. An eighth of all
 * bytes is reserved for tenants below their share, so that large tenants cannot exclude them. No operation
 * iterates over the entries.
 */
export class TenantShares<E extends Held> {
  readonly #limits: ShareLimits
  readonly #byKey = new Map<string, Places<E>>()
  readonly #shares = new Map<string, Share<E>>()
  readonly #open = new Queue<E>()
  readonly #settled = new Queue<E>()
  #bytes = 0

  constructor(limits: ShareLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): E | undefined {
    return this.#byKey.get(key)?.entry
  }

  ofTenant(tenant: string): readonly E[] {
    return Array.from(this.#shares.get(tenant)?.entries.values() ?? [], ({ entry }) => entry)
  }

  /** Adds an open entry under a free key. Returns false and changes nothing if its tenant's share is full. */
  add(entry: E): boolean {
    const share = this.#shares.get(entry.tenant) ?? { entries: new Map(), settled: new Queue(), bytes: 0 }
    this.#shares.set(entry.tenant, share)
    if (!this.#makeRoom(share, entry.bytes, 1)) {
      this.#forgetEmpty(entry.tenant, share)
      return false
    }
    const places: Places<E> = { entry, inAll: this.#open.push(entry), inShare: undefined }
    this.#byKey.set(entry.key, places)
    share.entries.set(entry.key, places)
    this.#count(share, entry.bytes)
    return true
  }

  /** Changes the size of an entry. Returns false and changes nothing if its tenant's share is full. */
  resize(entry: E, bytes: number): boolean {
    const share = this.#shares.get(entry.tenant)
    if (share === undefined) return false
    const more = bytes - entry.bytes
    if (more > 0 && !this.#makeRoom(share, more, 0)) return false
    this.#count(share, more)
    entry.bytes = bytes
    return true
  }

  /** Extends the lease of an open entry. */
  extend(entry: E, until: number): void {
    const places = this.#byKey.get(entry.key)
    entry.until = until
    if (places === undefined || entry.isSettled) return
    this.#open.remove(places.inAll)
    places.inAll = this.#open.push(entry)
  }

  /**
   * Settles an entry. From now on it can be removed for other entries of its tenant, and expires at `until`.
   */
  settle(entry: E, until: number): void {
    const places = this.#byKey.get(entry.key)
    const share = this.#shares.get(entry.tenant)
    if (places === undefined || share === undefined || entry.isSettled) return
    this.#open.remove(places.inAll)
    entry.isSettled = true
    entry.until = until
    places.inAll = this.#settled.push(entry)
    places.inShare = share.settled.push(entry)
  }

  delete(entry: E): void {
    const share = this.#shares.get(entry.tenant)
    if (share === undefined || this.get(entry.key) !== entry) return
    this.#remove(share, entry)
    this.#forgetEmpty(entry.tenant, share)
  }

  /**
   * Removes expired settled entries and reports expired open ones.
   * @param lapsed - must settle or delete the entry.
   */
  sweep(now: number, lapsed: (entry: E) => void): void {
    for (let entry = this.#open.first; entry !== undefined && entry.until <= now; entry = this.#open.first)
      lapsed(entry)
    for (
      let entry = this.#settled.first;
      entry !== undefined && entry.until <= now;
      entry = this.#settled.first
    )
      this.delete(entry)
  }

  #makeRoom(share: Share<E>, bytes: number, entries: number): boolean {
    while (!this.#fits(share, bytes, entries)) {
      const oldest = share.settled.first
      if (oldest === undefined) return false
      this.#remove(share, oldest)
    }
    return true
  }

  #remove(share: Share<E>, entry: E): void {
    const places = share.entries.get(entry.key)
    if (places === undefined) return
    this.#byKey.delete(entry.key)
    share.entries.delete(entry.key)
    if (places.inShare !== undefined) share.settled.remove(places.inShare)
    const all = entry.isSettled ? this.#settled : this.#open
    all.remove(places.inAll)
    this.#count(share, -entry.bytes)
  }

  #fits(share: Share<E>, bytes: number, entries: number): boolean {
    const { maxBytes, maxTenantBytes, maxTenantEntries } = this.#limits
    if (share.entries.size + entries > maxTenantEntries || share.bytes + bytes > maxTenantBytes) return false
    const [inAll, reserve] = [this.#bytes + bytes, maxBytes / 8]
    if (inAll <= maxBytes - reserve) return true
    return inAll <= maxBytes && share.bytes + bytes <= (maxBytes - reserve) / this.#shares.size
  }

  #count(share: Share<E>, bytes: number): void {
    share.bytes += bytes
    this.#bytes += bytes
  }

  #forgetEmpty(tenant: string, share: Share<E>): void {
    if (share.entries.size === 0) this.#shares.delete(tenant)
  }
}
