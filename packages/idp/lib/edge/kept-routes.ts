import { canonicalHost } from './canonical-host.js'
import { quoted } from './parse-duration.js'
import type { EdgeRoute, KeptRoute } from './edge-route.js'
import { routeJson } from './route-json.js'

const MAX_ROUTES = 10_000
/** Of the list of all routes. Its readers take no more than 8 MiB. */
const MAX_BYTES = 6 << 20
const NANOSECONDS_PER_MS = 1_000_000

/** Why a route is not registered. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict'
}

/** An invalid host is not registered. */
export class InvalidHost extends Error {
  override readonly name = 'InvalidHost'
}

/** A route, and what the registry knows of it. */
interface Entry {
  readonly route: KeptRoute
  /** Bytes of its JSON in the list. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly lapsesAt: number
}

/**
 * The routes of the edge, in the order in which they came. Leases end by themselves. A host is registered in
 * its canonical form, so that all its forms are one route with one owner.
 */
export class Registry {
  readonly #entries = new Map<string, Entry>()
  /** The keys of the entries of each host. */
  readonly #keys = new Map<string, Set<string>>()
  #bytes = 0

  /** @param now - milliseconds since the epoch. */
  constructor(private readonly now: () => number) {}

  /**
   * Registers or renews the route of a host and path, and returns it. @throws RouteConflict while another
   * owner has it; a route without owner takes none from an owner either. @throws InvalidHost.
   */
  register(asked: EdgeRoute): EdgeRoute {
    const host = canonicalHost(asked.host)
    if (host === undefined) throw new InvalidHost(`invalid host: ${quoted(asked.host)} is not a host`)
    const route = { ...asked, host }
    const key = keyOf(host, route.path)
    const known = this.#live(key)
    if (known !== undefined && known.route.owner !== '' && known.route.owner !== route.owner)
      throw new RouteConflict(
        `conflict: host ${quoted(host)} path ${quoted(route.path)} is owned by ${quoted(known.route.owner)}`,
      )
    const size = Buffer.byteLength(routeJson(route))
    const isFull = () => (known === undefined ? 1 : 0) + this.#entries.size > MAX_ROUTES
    const bytes = () => this.#bytes - (known?.size ?? 0) + size
    if (isFull() || bytes() > MAX_BYTES) this.#sweep()
    if (isFull()) throw new RouteConflict(`conflict: there are ${MAX_ROUTES} routes already`)
    if (bytes() > MAX_BYTES)
      throw new RouteConflict(`conflict: the routes would take more than ${MAX_BYTES} bytes together`)
    this.#bytes = bytes()
    const now = this.now()
    this.#entries.set(key, {
      route: { ...route, createdAt: known?.route.createdAt ?? now, renewedAt: now },
      size,
      lapsesAt: route.ttl > 0n ? now + Number(route.ttl) / NANOSECONDS_PER_MS : Number.POSITIVE_INFINITY,
    })
    this.#keys.set(host, (this.#keys.get(host) ?? new Set()).add(key))
    return route
  }

  list(): readonly KeptRoute[] {
    this.#sweep()
    return [...this.#entries.values()].map(({ route }) => route)
  }

  /** True if a route of the host is registered. */
  has(host: string): boolean {
    return this.#ofHost(host).length > 0
  }

  /** The route whose path is the longest that the path begins with. */
  lookup(host: string, path = '/'): KeptRoute | undefined {
    return this.#ofHost(host)
      .filter((route) => matches(route.path, path))
      .reduce<KeptRoute | undefined>(
        (best, route) => (best === undefined || route.path.length > best.path.length ? route : best),
        undefined,
      )
  }

  /** Removes one route of the host, or all without a path. Returns whether there was one. */
  deregister(host: string, path?: string): boolean {
    const gone = this.#ofHost(host).filter((route) => path === undefined || route.path === path)
    for (const route of gone) this.#remove(keyOf(route.host, route.path))
    return gone.length > 0
  }

  /** Removes the routes of a project, and returns how many. */
  deregisterProject(project: string): number {
    const gone = this.list().filter((route) => route.project === project)
    for (const route of gone) this.#remove(keyOf(route.host, route.path))
    return gone.length
  }

  #ofHost(asked: string): readonly KeptRoute[] {
    const host = canonicalHost(asked)
    const keys = host === undefined ? undefined : this.#keys.get(host)
    return [...(keys ?? [])].flatMap((key) => this.#live(key)?.route ?? [])
  }

  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.lapsesAt >= this.now()) return entry
    this.#remove(key)
    return undefined
  }

  #sweep(): void {
    for (const key of this.#entries.keys()) this.#live(key)
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.size
    const { host } = entry.route
    const keys = this.#keys.get(host)
    keys?.delete(key)
    if (keys?.size === 0) this.#keys.delete(host)
  }
}

const keyOf = (host: string, path: string): string => JSON.stringify([host, path])

/** `/api` fits `/api` and `/api/x`, not `/apiary`. */
const matches = (prefix: string, path: string): boolean =>
  prefix === '' ||
  (path.startsWith(prefix) &&
    (path.length === prefix.length || prefix.endsWith('/') || path[prefix.length] === '/'))
