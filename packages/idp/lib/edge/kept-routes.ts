import { quoted } from './parse-duration.js'
import type { EdgeRoute, KeptRoute } from './edge-route.js'
import { routeJson } from './route-json.js'

const MOST_ROUTES = 10_000
/** Of the list of all routes. Its readers take no more than 8 MiB. */
const MOST_BYTES = 6 << 20
const NANOSECONDS_PER_MS = 1_000_000n

/** Why a route is not registered. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict'
}

/** The routes of the edge, in the order in which they came. Leases end by themselves. */
export class Registry {
  readonly #routes = new Map<string, KeptRoute>()
  readonly #sizes = new Map<string, number>()
  #bytes = 0

  /** @param now - milliseconds since the epoch. */
  constructor(private readonly now: () => number) {}

  /**
   * Registers or renews the route of a host and path. @throws RouteConflict while another owner has it; a
   * route without owner takes none from an owner either.
   */
  register(route: EdgeRoute): void {
    this.#sweep()
    const key = keyOf(route.host, route.path)
    const known = this.#routes.get(key)
    if (known !== undefined && known.owner !== '' && known.owner !== route.owner)
      throw new RouteConflict(
        `conflict: host ${quoted(route.host)} path ${quoted(route.path)} is owned by ${quoted(known.owner)}`,
      )
    if (known === undefined && this.#routes.size >= MOST_ROUTES)
      throw new RouteConflict(`conflict: there are ${MOST_ROUTES} routes already`)
    const size = Buffer.byteLength(routeJson(route))
    const others = this.#bytes - (this.#sizes.get(key) ?? 0)
    if (others + size > MOST_BYTES)
      throw new RouteConflict(`conflict: the routes would take more than ${MOST_BYTES} bytes together`)
    this.#bytes = others + size
    this.#sizes.set(key, size)
    this.#routes.set(key, { ...route, createdAt: known?.createdAt ?? this.now(), renewedAt: this.now() })
  }

  list(): readonly KeptRoute[] {
    this.#sweep()
    return [...this.#routes.values()]
  }

  /** The route whose path is the longest that the path begins with. */
  lookup(host: string, path = '/'): KeptRoute | undefined {
    const fitting = this.list().filter((route) => route.host === host && matches(route.path, path))
    return fitting.reduce<KeptRoute | undefined>(
      (best, route) => (best === undefined || route.path.length > best.path.length ? route : best),
      undefined,
    )
  }

  /** Removes one route of the host, or all without a path. Returns whether there was one. */
  deregister(host: string, path?: string): boolean {
    return this.#remove((route) => route.host === host && (path === undefined || route.path === path)) > 0
  }

  /** Removes the routes of a project, and returns how many. */
  deregisterProject(project: string): number {
    return this.#remove((route) => route.project === project)
  }

  #sweep(): void {
    const now = BigInt(this.now())
    this.#remove(
      ({ ttl, renewedAt }) =>
        ttl > 0n && now * NANOSECONDS_PER_MS > BigInt(renewedAt) * NANOSECONDS_PER_MS + ttl,
    )
  }

  #remove(isGone: (route: KeptRoute) => boolean): number {
    let removed = 0
    for (const [key, route] of this.#routes) {
      if (!isGone(route)) continue
      this.#routes.delete(key)
      this.#bytes -= this.#sizes.get(key) ?? 0
      this.#sizes.delete(key)
      removed++
    }
    return removed
  }
}

const keyOf = (host: string, path: string): string => JSON.stringify([host, path])

/** `/api` fits `/api` and `/api/x`, not `/apiary`. */
const matches = (prefix: string, path: string): boolean =>
  prefix === '' ||
  (path.startsWith(prefix) &&
    (path.length === prefix.length || prefix.endsWith('/') || path[prefix.length] === '/'))
