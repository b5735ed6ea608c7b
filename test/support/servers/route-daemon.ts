import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DaemonAddress } from '../../../cli/idp/routes/daemon-address.js'

/** A route in the list of the daemon. */
export interface DaemonRoute {
  readonly host: string
  readonly upstream: string
  readonly path?: string
  readonly protocol?: string
  readonly project?: string
  readonly owner?: string
  /** The duration of the lease, such as `30s`. Without it, the route has no end. */
  readonly ttl?: string
  readonly tile?: Readonly<Record<string, unknown>>
  readonly [extension: string]: unknown
}

export interface RouteDaemonOptions {
  readonly over?: 'unix' | 'tcp'
  readonly routes?: readonly DaemonRoute[]
  /** Returns the time in milliseconds, for the leases. */
  readonly now?: () => number
  /** Returns a number from 0 to 1 that determines the order of the list. */
  readonly random?: () => number
  /**
   * How the daemon fails. `hung` accepts connections and does not respond, `dripping` never ends its
   * response, `garbage` does not send HTTP, and `hanging-up` closes connections at once. A function responds
   * in its place.
   */
  readonly mode?: 'hung' | 'dripping' | 'garbage' | 'hanging-up' | ((response: ServerResponse) => void)
}

/**
 * A daemon that manages routes like the real one: leases expire, hosts have an owner, and the list has any
 * order.
 */
export interface RouteDaemon {
  readonly address: DaemonAddress
  /** Environment variables with which commands find this daemon and no other one. */
  readonly env: { readonly DEVEDGE_HOME: string; readonly DEVEDGE_ADDR: string }
  readonly routes: () => readonly DaemonRoute[]
  /** The methods, URLs and bodies of the calls so far. */
  readonly calls: readonly { readonly method: string; readonly url: string; readonly body: string }[]
  readonly close: () => Promise<void>
}

/** An address that nothing listens on: no service uses this port, which is below 1024. */
export const SILENT_ADDRESS = '127.0.0.1:1'

export async function startRouteDaemon(options: RouteDaemonOptions = {}): Promise<RouteDaemon> {
  const { over = 'unix', now = Date.now, random = Math.random, mode } = options
  const home = mkdtempSync(join(tmpdir(), 'ashlar-daemon-'))
  const leases = new Map<string, { readonly route: DaemonRoute; readonly ends: number }>()
  const calls: { method: string; url: string; body: string }[] = []
  const sockets = new Set<Socket>()

  const keep = (route: DaemonRoute): void => {
    leases.set(keyOf(route), { route, ends: now() + lifetimeMs(route.ttl) })
  }
  const routes = (): readonly DaemonRoute[] => {
    for (const [key, { ends }] of leases) if (ends <= now()) leases.delete(key)
    return [...leases.values()].map(({ route }) => route)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request)
    calls.push({ method: request.method ?? '', url: request.url ?? '', body })
    if (typeof mode === 'function') return mode(response)
    if (mode === 'dripping') return drip(response)
    if (request.url !== '/v1/routes') return plain(response, 404, '404 page not found')
    if (request.method === 'GET') return json(response, 200, shuffled(routes(), random).map(listed))
    if (request.method !== 'PUT') return plain(response, 405, 'Method Not Allowed')
    const route = parsed(body)
    if (route === undefined) return plain(response, 400, 'invalid json')
    if (!route.host || !route.upstream) return plain(response, 400, 'host and upstream are required')
    const holder = routes().find((known) => keyOf(known) === keyOf(route))
    if (holder?.owner !== undefined && holder.owner !== route.owner)
      return plain(response, 409, `host ${route.host} is already owned by ${holder.owner}`)
    keep(route)
    return json(response, 201, listed(route))
  }

  options.routes?.forEach(keep)
  const server: Server =
    mode === 'hung' || mode === 'garbage' || mode === 'hanging-up'
      ? createTcpServer((socket) => misbehave(socket, mode))
      : createServer((request, response) => void answer(request, response))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  const socketPath = join(home, 'devedged.sock')
  await new Promise<void>((resolve) => {
    if (over === 'unix') server.listen(socketPath, resolve)
    else server.listen(0, '127.0.0.1', resolve)
  })
  const port = over === 'unix' ? 0 : (server.address() as AddressInfo).port
  return {
    address: over === 'unix' ? { socketPath } : { host: '127.0.0.1', port },
    env: { DEVEDGE_HOME: home, DEVEDGE_ADDR: over === 'unix' ? SILENT_ADDRESS : `127.0.0.1:${port}` },
    routes,
    calls,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const keyOf = ({ host, path = '' }: DaemonRoute): string => `${host} ${path}`

function lifetimeMs(ttl = ''): number {
  const [, amount, unit = 's'] = /^(\d+)(ms|s|m|h)$/.exec(ttl) ?? []
  if (amount === undefined) return Infinity
  return Number(amount) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? 1)
}

/** Returns a route as the daemon lists it: the lease in nanoseconds, and fields that clients do not need. */
function listed(route: DaemonRoute): object {
  const { ttl, ...fields } = route
  return {
    ...fields,
    ...(ttl && { ttl: lifetimeMs(ttl) * 1_000_000 }),
    created_at: '2024-01-01T00:00:00Z',
    source: 'api',
  }
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

function parsed(body: string): DaemonRoute | undefined {
  try {
    return JSON.parse(body) as DaemonRoute
  } catch {
    return undefined
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).write('[')
  const dripping = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(dripping))
}

function misbehave(socket: Socket, mode: 'hung' | 'garbage' | 'hanging-up'): void {
  if (mode === 'garbage') socket.end('SSH-2.0-OpenSSH_9.2p1\r\n')
  if (mode === 'hanging-up') socket.destroy()
}
