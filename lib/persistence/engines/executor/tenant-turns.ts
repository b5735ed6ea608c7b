/** The key for calls without a tenant and system calls, which may use every connection. */
export const NO_TENANT = ''

/** Counts the connections in use. */
export interface Held {
  all: number
  readonly byTenant: Map<string, number>
}

/** Called when the waiting call's turn comes. */
type Waiter = (held: Held) => void

/**
 * Shares the connections of a pool among tenants. Tenants whose calls wait take turns, and one tenant uses at
 * most all connections but one, so that its calls never make all others wait.
 */
export class TenantTurns {
  /** The maximum number of connections that one tenant uses: at least one, and at most all but one. */
  maxOfTenant = Infinity
  #held: Held = { all: 0, byTenant: new Map() }
  /** The waiting calls by tenant; the tenant whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<Waiter>>()

  /** @param size - returns the maximum number of connections in the pool. */
  constructor(private readonly size: () => number) {}

  /**
   * Takes a connection if one is free for the tenant.
   * @returns the count to pass to `leave`.
   */
  takeFree(tenant: string): Held | undefined {
    const isFree =
      this.#held.all < this.size() && (tenant === NO_TENANT || usedBy(this.#held, tenant) < this.#most)
    return isFree ? this.take(tenant) : undefined
  }

  /**
   * Takes a connection without waiting for a turn: the call already holds one, and other calls may wait for
   * it.
   */
  take(tenant: string): Held {
    this.#held.all++
    this.#held.byTenant.set(tenant, usedBy(this.#held, tenant) + 1)
    return this.#held
  }

  /**
   * Waits for a turn and takes a connection.
   * @returns a function that ends the wait.
   */
  wait(tenant: string, begin: Waiter): () => void {
    const waiters = this.#waiting.get(tenant) ?? new Set()
    this.#waiting.set(tenant, waiters.add(begin))
    return () => {
      if (waiters.delete(begin) && waiters.size === 0) this.#waiting.delete(tenant)
    }
  }

  /** Returns a connection. */
  leave(tenant: string, held: Held): void {
    held.all--
    const used = usedBy(held, tenant) - 1
    if (used > 0) held.byTenant.set(tenant, used)
    else held.byTenant.delete(tenant)
    while (this.#next());
  }

  /** Serves waiting calls as if no connection were in use. */
  renew(): void {
    this.#held = { all: 0, byTenant: new Map() }
    while (this.#next());
  }

  /** Serves the next waiting caller. Returns false if no caller can be served now. */
  #next(): boolean {
    if (this.#waiting.size === 0 || this.#held.all >= this.size()) return false
    for (const [tenant, waiters] of this.#waiting)
      for (const begin of waiters) {
        const held = this.takeFree(tenant)
        if (held === undefined) break
        this.#waiting.delete(tenant)
        waiters.delete(begin)
        if (waiters.size > 0) this.#waiting.set(tenant, waiters)
        begin(held)
        return true
      }
    return false
  }

  get #most(): number {
    return Math.max(1, Math.min(this.maxOfTenant, this.size() - 1))
  }
}

const usedBy = ({ byTenant }: Held, tenant: string): number => byTenant.get(tenant) ?? 0
