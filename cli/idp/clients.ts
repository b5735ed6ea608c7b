import { Failure } from '../errors/failure.js'
import { byCodeUnit } from './code-units.js'
import { isAddress } from './routes/host.js'
import type { Route } from './routes/route.js'

/** An entry of the clients file. */
export interface Client {
  readonly client_id: string
  readonly client_secret: string
  readonly redirect_uris: readonly string[]
  readonly tile: {
    readonly name: string
    readonly description: string
    readonly icon_url: string
    readonly launch_url: string
  }
}

/** The warning printed whenever client secrets are written. */
export const GUESSABLE =
  'Its client secrets are guessable on purpose (dev-secret-<name>): never use it outside development.'

/**
 * Returns one client for each app of the HTTP routes, sorted by `client_id`. Routes of the same project
 * belong to one app; a route without a project is named by its host. The order of the routes has no effect.
 * @throws Failure if two hosts without a project would become the same client.
 */
export function clientsOf(routes: readonly Route[]): readonly Client[] {
  return appsOf(routes).map(({ name, routes: ofApp }) => toClient(name, defaultRoute(ofApp)))
}

/** An app: its name and its HTTP routes. */
export interface App {
  readonly name: string
  readonly routes: readonly [Route, ...Route[]]
}

/** Returns the apps of the HTTP routes, sorted by name. */
export function appsOf(routes: readonly Route[]): readonly App[] {
  const byName = new Map<string, [Route, ...Route[]]>()
  for (const route of routes) {
    if (route.protocol === 'tcp') continue
    const name = appName(route)
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [route])
    else known.push(route)
  }
  const apps = [...byName].map(([name, ofApp]) => ({ name, routes: ofApp }))
  apps.sort((a, b) => byCodeUnit(a.name, b.name))
  apps.forEach(refuseChanceMeeting)
  return apps
}

/**
 * Returns the routes whose app has a name that a sign-in can use. `leftOut` receives the reason for each
 * omitted route.
 */
export const nameableRoutes = (routes: readonly Route[], leftOut: (why: string) => void): readonly Route[] =>
  routes.filter(({ project, host, protocol }) => {
    const isNameable = protocol === 'tcp' || !/\p{Cc}/u.test(project)
    if (!isNameable) leftOut(`the project of ${host} contains control characters: give it a plain name`)
    return isNameable
  })

function appName({ project, host }: Route): string {
  if (project !== '') return project
  if (isAddress(host)) return host.replaceAll(/[[\]]/g, '')
  return host.slice(0, host.indexOf('.'))
}

/**
 * Rejects hosts that would form one app only because their first labels are equal. Only a project combines
 * hosts.
 */
function refuseChanceMeeting({ name, routes }: App): void {
  const hosts = [...new Set(routes.map(({ host }) => host))].sort(byCodeUnit)
  const [first, second] = hosts
  if (first === undefined || second === undefined) return
  const claimed = new Set(routes.filter(({ project }) => project !== '').map(({ host }) => host))
  if (hosts.every((host) => claimed.has(host))) return
  const stranger = hosts.find((host) => !claimed.has(host)) ?? first
  const other = stranger === first ? second : first
  throw new Failure(
    'input',
    `${stranger} and ${other} would both be the client "${name}": give ${stranger} a project of its own (metadata.name in its devedge.yaml)`,
  )
}

/**
 * Returns the route by which users open the app: preferably one with a tile, then one without a path, then by
 * host and path.
 */
function defaultRoute(routes: readonly [Route, ...Route[]]): Route {
  return routes.reduce((best, route) => (byEntrance(route, best) < 0 ? route : best))
}

function byEntrance(a: Route, b: Route): number {
  return (
    Number(a.tile === undefined) - Number(b.tile === undefined) ||
    Number(a.path !== '') - Number(b.path !== '') ||
    byCodeUnit(a.host, b.host) ||
    byCodeUnit(a.path, b.path) ||
    Number(b.fromFile) - Number(a.fromFile) ||
    byCodeUnit(JSON.stringify(a.tile ?? null), JSON.stringify(b.tile ?? null))
  )
}

function toClient(name: string, { host, tile }: Route): Client {
  return {
    client_id: name,
    client_secret: `dev-secret-${name}`,
    redirect_uris: [`https://${host}/callback`],
    tile: {
      name: tile?.displayName || titleOf(name),
      description: tile?.description ?? '',
      icon_url: tile?.iconURL ?? '',
      launch_url: tile?.launchURL || `https://${host}/`,
    },
  }
}

/** Converts `notes-app` to `Notes App`. */
export function titleOf(name: string): string {
  const words = name.split(/[-_\s]+/u).filter((word) => word !== '')
  if (words.length === 0) return name
  return words.map(([first = '', ...rest]) => first.toUpperCase() + rest.join('')).join(' ')
}
