import { Failure } from '../../errors/failure.js'
import { type DaemonAddress, showAddress } from './daemon-address.js'
import { callDaemon, refusal } from './daemon-client.js'
import { canonicalHost } from './host.js'
import type { Route } from './route.js'
import { refuseScripts, tileOf } from './tile.js'

/** The daemon that responded and its routes, with hosts as registered. */
export interface Registry {
  readonly address: DaemonAddress
  readonly routes: readonly Route[]
}

/** The body of `PUT /v1/routes`. */
export interface Registration {
  readonly host: string
  readonly upstream: string
  readonly project: string
  readonly owner: string
}

const PATH = '/v1/routes'

/**
 * Returns the routes of the first daemon that listens; undefined if none does.
 * @throws Failure if the response is not a list of routes.
 */
export async function findRegistry(
  addresses: readonly DaemonAddress[],
  timeoutMs?: number,
): Promise<Registry | undefined> {
  for (const address of addresses) {
    const response = await callDaemon(address, { method: 'GET', path: PATH }, timeoutMs)
    if (response === undefined) continue
    if (response.status !== 200) throw notRoutes(address, `GET ${PATH} returned: ${refusal(response)}`)
    return { address, routes: routesIn(response.body, address) }
  }
  return undefined
}

/**
 * Registers or renews the route.
 * @throws Failure with the daemon's own error message if it rejects the route.
 */
export async function register(
  address: DaemonAddress,
  route: Registration,
  timeoutMs?: number,
): Promise<void> {
  const response = await callDaemon(address, { method: 'PUT', path: PATH, json: route }, timeoutMs)
  if (response === undefined)
    throw new Failure(
      'daemon',
      `the daemon at ${showAddress(address)} stopped before the route was registered: try again`,
    )
  if (response.status === 200 || response.status === 201) return
  if (response.status === 409)
    throw new Failure(
      'conflict',
      `${route.host} belongs to another owner (${refusal(response)}): choose another --host, or release that route first`,
    )
  throw new Failure(
    'daemon',
    `the daemon at ${showAddress(address)} rejected ${route.host}: ${refusal(response)}`,
  )
}

/**
 * Returns the routes with canonical hosts. HTTP routes that cannot become a client are omitted, and `leftOut`
 * receives the reason.
 */
export function usableRoutes(
  { address, routes }: Registry,
  leftOut: (why: string) => void,
): readonly Route[] {
  return routes.flatMap((route) => {
    if (route.protocol === 'tcp') return route
    try {
      const host = canonicalHost(route.host, `a route of the daemon at ${showAddress(address)}`)
      if (route.tile !== undefined) refuseScripts(route.tile, `the tile of ${host}`)
      return { ...route, host }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      leftOut(error.message)
      return []
    }
  })
}

function routesIn(body: string, address: DaemonAddress): readonly Route[] {
  let list: unknown
  try {
    list = JSON.parse(body)
  } catch {
    throw notRoutes(address, 'its response is not JSON')
  }
  if (list === null) return []
  if (!Array.isArray(list)) throw notRoutes(address, 'its response is not a list')
  return list.map((entry: unknown) => routeIn(entry, address))
}

function routeIn(entry: unknown, address: DaemonAddress): Route {
  const text = (fields: object, key: string): string => {
    const value = (fields as Readonly<Record<string, unknown>>)[key] ?? ''
    if (typeof value !== 'string') throw notRoutes(address, `${key} of a route is not a string`)
    return value.toWellFormed()
  }
  if (!isObject(entry)) throw notRoutes(address, 'an entry of its list is not a route')
  const path = text(entry, 'path')
  const route = {
    host: text(entry, 'host'),
    path: path === '/' ? '' : path,
    upstream: text(entry, 'upstream'),
    protocol: text(entry, 'protocol').toLowerCase() === 'tcp' ? 'tcp' : 'http',
    project: text(entry, 'project').trim(),
    fromFile: false,
  } as const
  const fields = (entry as { readonly tile?: unknown }).tile ?? undefined
  if (fields === undefined) return route
  if (!isObject(fields)) throw notRoutes(address, `the tile of ${route.host} is not an object`)
  const tile = tileOf({
    displayName: text(fields, 'display_name'),
    description: text(fields, 'description'),
    iconURL: text(fields, 'icon_url'),
    launchURL: text(fields, 'launch_url'),
  })
  return { ...route, ...(tile && { tile }) }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const notRoutes = (address: DaemonAddress, what: string): Failure =>
  new Failure(
    'daemon',
    `${showAddress(address)} is not the devedge daemon (${what}): restart it, or stop it to continue without it`,
  )
