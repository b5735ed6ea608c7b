/** The key of calls without a tenant and of system calls, which may use every connection. */
export const NO_TENANT = ''

/** Counts connections in use. */
export interface Held {
  all: number
  readonly byTenant: Map<string, number>
}

/** Called when the waiting call's turn comes. */
type Waiter = (held: Held) => void

/**
 * Shares the connections of a pool among tenants. Tenants with waiting calls take turns. A tenant can use all
 * connections except one, so that its calls cannot block all other tenants.
 */
export class TenantTurns {
  /** The maximum number of connections per tenant: at least one, and at most all except one. */
  maxOfTenant = Infinity
  #held: Held = { all: 0, byTenant: new Map() }
  /** The waiting calls by tenant. The first tenant is the next one to be served. */
  readonly #waiting = new Map<string, Set<Waiter>>()

  /**
   * @param size - returns the maximum number of connections.
   */
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
   * Takes a connection without waiting for a turn, for a call that already holds one and that others may be
   * waiting for.
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

  /** Gives a connection back and serves the next waiting calls. */
  leave(tenant: string, held: Held): void {
    held.all--
    const used = usedBy(held, tenant) - 1
    if (used > 0) held.byTenant.set(tenant, used)
    else held.byTenant.delete(tenant)
    while (this.#next());
  }

  /** Serves waiting calls as if no connections were in use. */
  renew(): void {
    this.#held = { all: 0, byTenant: new Map() }
    while (this.#next());
  }

  /** Serves the next waiting call. Returns false if none can be served now. */
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
