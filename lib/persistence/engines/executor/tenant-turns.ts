/** The calls of no tenant, and those of the system. They may use every connection. */
export const NO_TENANT = ''

/** Begins when its turn comes. */
type Waiter = () => void

/**
 * The connections of a pool, shared among tenants. Tenants whose calls wait take turns, and one tenant uses
 * all connections but one at most, so that its calls never keep those of the others waiting for all of them.
 */
export class TenantTurns {
  /** The most connections of one tenant; never more than all but one, and at least one. */
  maxOfTenant = Infinity
  /** By tenant. */
  readonly #used = new Map<string, number>()
  #all = 0
  /** The tenant whose turn comes next is first. */
  readonly #waiting = new Map<string, Set<Waiter>>()

  /** @param size - the most connections of the pool. */
  constructor(private readonly size: () => number) {}

  /** Takes a connection if one is free for the tenant. */
  takes(tenant: string): boolean {
    const isFree = this.#all < this.size() && (tenant === NO_TENANT || this.#usedBy(tenant) < this.#most)
    if (isFree) this.take(tenant)
    return isFree
  }

  /** Takes a connection without a turn: for a call that holds another one, which nobody may wait for. */
  take(tenant: string): void {
    this.#all++
    this.#used.set(tenant, this.#usedBy(tenant) + 1)
  }

  /**
   * Waits for a turn, which takes a connection.
   * @returns a function that ends the wait.
   */
  wait(tenant: string, begin: Waiter): () => void {
    const waiters = this.#waiting.get(tenant) ?? new Set()
    this.#waiting.set(tenant, waiters.add(begin))
    return () => {
      if (waiters.delete(begin) && waiters.size === 0) this.#waiting.delete(tenant)
    }
  }

  /** Gives a connection back. */
  leave(tenant: string): void {
    this.#all--
    const used = this.#usedBy(tenant) - 1
    if (used > 0) this.#used.set(tenant, used)
    else this.#used.delete(tenant)
    while (this.#next());
  }

  /** True if the turn of a caller has come. */
  #next(): boolean {
    for (const [tenant, waiters] of this.#waiting) {
      if (!this.takes(tenant)) continue
      const [begin] = waiters
      this.#waiting.delete(tenant)
      if (begin === undefined) return true
      waiters.delete(begin)
      if (waiters.size > 0) this.#waiting.set(tenant, waiters)
      begin()
      return true
    }
    return false
  }

  get #most(): number {
    return Math.max(1, Math.min(this.maxOfTenant, this.size() - 1))
  }

  #usedBy(tenant: string): number {
    return this.#used.get(tenant) ?? 0
  }
}
