import { canonicalHost } from './canonical-host.js'
import { quoted } from './parse-duration.js'
import type { EdgeRoute, KeptRoute } from './edge-route.js'
import { routeJson } from './route-json.js'

const MAX_ROUTES = 10_000
/** The maximum size of the list of all routes. Its readers accept 8 MiB. */
const MAX_BYTES = 6 << 20
const NANOSECONDS_PER_MS = 1_000_000

/** A route was not registered because of another route or a limit. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict'
}

/** A route was not registered because its host is invalid. */
export class InvalidHost extends Error {
  override readonly name = 'InvalidHost'
}

/** A route with the registry's own data. */
interface Entry {
  readonly route: KeptRoute
  /** The size of its JSON in the list, in bytes. */
  readonly size: number
  /** The time of expiry in milliseconds since the epoch. */
  readonly lapsesAt: number
}

/**
 * The routes of the local HTTPS proxy, in order of registration. Leases expire automatically. Hosts are
 * registered in canonical form, so that all their forms are one route with one owner.
 */
export class Registry {
  readonly #entries = new Map<string, Entry>()
  /** The keys of the entries by host. */
  readonly #keys = new Map<string, Set<string>>()
  #bytes = 0

  /**
   * @param now - returns the time in milliseconds since the epoch.
   */
  constructor(private readonly now: () => number) {}

  /**
   * Registers or renews the route of a host and path, and returns it.
   *
   * @throws RouteConflict if another owner has the route. A route without an owner cannot replace an
   *   owner's, either.
   * @throws InvalidHost
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

  /** Returns true if a route of the host is registered. */
  has(host: string): boolean {
    return this.#ofHost(host).length > 0
  }

  /** Returns the route with the longest path that is a prefix of the given path. */
  lookup(host: string, path = '/'): KeptRoute | undefined {
    return this.#ofHost(host)
      .filter((route) => matches(route.path, path))
      .reduce<KeptRoute | undefined>(
        (best, route) => (best === undefined || route.path.length > best.path.length ? route : best),
        undefined,
      )
  }

  /** Removes one route of the host, or all if no path is given. Returns true if one existed. */
  deregister(host: string, path?: string): boolean {
    const gone = this.#ofHost(host).filter((route) => path === undefined || route.path === path)
    for (const route of gone) this.#remove(keyOf(route.host, route.path))
    return gone.length > 0
  }

  /** Removes the routes of a project. Returns the number of removed routes. */
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

/** Returns true if a prefix matches a path. `/api` matches `/api` and `/api/x`, but not `/apiary`. */
const matches = (prefix: string, path: string): boolean =>
  prefix === '' ||
  (path.startsWith(prefix) &&
    (path.length === prefix.length || prefix.endsWith('/') || path[prefix.length] === '/'))
