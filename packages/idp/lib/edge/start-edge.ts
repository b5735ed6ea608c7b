import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContext } from 'node:tls'
import { listenPrivately } from '../control/listen-privately.js'
import { Failure } from '../idp-failure.js'
import { type Authority, openAuthority } from './authority.js'
import { canonicalHost } from './canonical-host.js'
import { daemonOf, onlyLocal } from './daemon.js'
import { printed } from '../printed.js'
import { type EdgeHome, edgeHome } from './edge-home.js'
import { proxyOf } from './proxy.js'
import { Registry } from './kept-routes.js'

export interface EdgeOptions {
  /** The port for HTTPS. Default: 443 if permitted, otherwise 8443. 0 selects a free port. */
  readonly port?: number
  /** The daemon's location. Default: `DEVEDGE_HOME` and `DEVEDGE_ADDR`. */
  readonly home?: EdgeHome
  readonly warn?: (text: string) => void
  /** Returns the time in milliseconds since the epoch, for leases. */
  readonly now?: () => number
}

/** A local HTTPS proxy in this process. */
export interface RunningEdge {
  readonly registry: Registry
  readonly authority: Authority
  readonly socketPath: string
  /** The port of the daemon's protocol. Undefined if another program uses it. */
  readonly daemonPort: number | undefined
  /** The port for HTTPS. */
  readonly port: number
  readonly close: () => Promise<void>
}

const PORTS = [443, 8443]
/**
 * The maximum number of connections to the daemon. Every user of the machine can reach its address and send 1
 * MiB per connection.
 */
const MAX_DAEMON_CONNECTIONS = 100
/** The maximum number of HTTPS connections per address, for requests or WebSockets. */
const MAX_PROXY_CONNECTIONS = 500

/**
 * Starts the daemon and its proxy.
 *
 * @throws Failure if a daemon is already running, or if the port is in use.
 */
export async function startEdge(options: EdgeOptions = {}): Promise<RunningEdge> {
  const { home = edgeHome(), warn = printed, now = Date.now } = options
  const registry = new Registry(now)
  const daemon = daemonOf(registry)
  const overSocket = createServer(daemon)
  await listenPrivately(overSocket, home.socketPath, 'an edge')
  const servers: (Server | TlsServer)[] = [overSocket]
  try {
    const authority = await openAuthority(home.folder)
    const overTcp = createServer(onlyLocal(daemon))
    overTcp.maxConnections = MAX_DAEMON_CONNECTIONS
    const isBound = await listens(overTcp, home.port, home.host)
    if (isBound) servers.push(overTcp)
    else
      warn(
        `Another program uses port ${home.port} of ${home.host}: the edge is only available at ${home.socketPath}.`,
      )
    const { port, servers: proxies } = await proxies4and6(registry, authority, options.port)
    servers.push(...proxies)
    return {
      registry,
      authority,
      socketPath: home.socketPath,
      daemonPort: isBound ? (overTcp.address() as AddressInfo).port : undefined,
      port,
      close: () => closeAll(servers),
    }
  } catch (error) {
    await closeAll(servers)
    throw error
  }
}

async function proxies4and6(registry: Registry, authority: Authority, wanted: number | undefined) {
  // This certificate is for clients that send no host name.
  const { key, cert } = await authority.certificateFor('localhost')
  const make = (): TlsServer => proxyServer(registry, authority, { key, cert })
  for (const port of wanted === undefined ? PORTS : [wanted]) {
    const first = make()
    if (!(await listens(first, port, '127.0.0.1'))) continue
    const taken = (first.address() as AddressInfo).port
    const second = make()
    return { port: taken, servers: (await listens(second, taken, '::1')) ? [first, second] : [first] }
  }
  const ports = wanted === undefined ? PORTS.join(' and ') : String(wanted)
  throw new Failure(
    `port ${ports} is not available: stop the program that uses it, or choose another (ashlar-idp edge --port 9443)`,
  )
}

function proxyServer(
  registry: Registry,
  authority: Authority,
  fallback: { key: string; cert: string },
): TlsServer {
  const { request, upgrade } = proxyOf(registry)
  const contextOf = async (name: string): Promise<SecureContext> => {
    const host = canonicalHost(name)
    const served = host !== undefined && registry.has(host) ? host : 'localhost'
    return (await authority.certificateFor(served)).context
  }
  const server = createTlsServer(
    {
      ...fallback,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: 10_000,
      headersTimeout: 10_000,
      requestTimeout: 0,
      SNICallback: (name, done) => {
        contextOf(name).then(
          (context) => done(null, context),
          (error: unknown) => done(error as Error),
        )
      },
    },
    request,
  )
  server.on('upgrade', upgrade)
  server.maxConnections = MAX_PROXY_CONNECTIONS
  return server
}

/**
 * Resolves to true if the server listens, or to false if the port is unavailable.
 *
 * @throws Error for other failures.
 */
const listens = (server: Server | TlsServer, port: number, host: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(error.code ?? ''))
        return resolve(false)
      reject(error)
    })
    server.listen(port, host, () => resolve(true))
  })

const closeAll = async (servers: readonly (Server | TlsServer)[]): Promise<void> => {
  await Promise.all(
    servers.map((server) => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      return closed
    }),
  )
}
