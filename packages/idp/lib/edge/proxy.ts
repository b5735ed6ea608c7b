import { createProxyServer } from 'httpxy'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Registry } from './kept-routes.js'
import type { KeptRoute } from './edge-route.js'
import { isLoopback } from '../clients/origins.js'
import { canonicalHost } from './canonical-host.js'
import { isCoded, removeHopHeaders } from './hop-headers.js'

/** Marks forwarded requests, so that a route to the proxy itself does not cause a loop. */
const VIA = '1.1 ashlar-edge'

/** The maximum number of concurrent requests of one connection. Browsers send one. */
const MAX_PIPELINED = 10

/** Matches headers that name the client. Some servers read `_` as `-`. */
const FORWARDING = /^(x[-_]forwarded[-_].*|forwarded|x[-_]real[-_]ip)$/

/** Forwards requests and upgrades to the upstreams of their hosts. */
export interface EdgeProxy {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export function proxyOf(registry: Registry): EdgeProxy {
  const proxy = createProxyServer({
    ...{ ws: true, xfwd: false, proxyTimeout: 0, timeout: 0 },
    selfHandleResponse: true,
  })
  proxy.on('proxyReq', (proxied, { socket }, response) => {
    endWith(socket, proxied)
    proxied.on('upgrade', (_upgraded, socket) => {
      socket.destroy()
      refuse(response, 502, 'the upstream switched to another protocol, which the request did not name')
    })
    // A client may wait for a response before it sends its body, so send the headers now.
    if (proxied.hasHeader('content-length') || proxied.hasHeader('transfer-encoding')) flush(proxied)
  })
  proxy.on('proxyRes', (proxied, _request, response) => passOn(proxied, response))
  proxy.on('proxyReqWs', (proxied, { headers }, socket, { target }) =>
    joinUpgrade(proxied, socket, (error) => unreachable(headers.host, target, error)),
  )
  const pending = new WeakMap<Socket, number>()
  return {
    request: (request, response) => {
      const { socket } = request
      const others = pending.get(socket) ?? 0
      if (others >= MAX_PIPELINED) return void socket.destroy()
      pending.set(socket, others + 1)
      // Each of these requests listens for the end of the connection.
      socket.setMaxListeners(2 * MAX_PIPELINED)
      response.once('close', () => pending.set(socket, (pending.get(socket) ?? 1) - 1))
      const way = wayOf(request, registry)
      if ('refusal' in way) return refuse(response, way.status, way.refusal)
      prepare(request, way.route)
      proxy.web(request, response, optionsOf(way.target)).catch((error: unknown) => {
        refuse(response, 502, unreachable(request.headers.host, way.target, error))
      })
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      // Close the socket, because the other side may never close it.
      socket.once('finish', () => socket.destroy())
      const way = upgradeRefusal(request) ?? wayOf(request, registry)
      if ('refusal' in way) return refuseUpgrade(socket, way.status, way.refusal)
      prepare(request, way.route)
      Object.assign(request.headers, { connection: 'Upgrade', upgrade: 'websocket' })
      proxy.ws(request, socket as Socket, optionsOf(way.target), head).catch((error: unknown) => {
        if (socket.writable) refuseUpgrade(socket, 502, unreachable(request.headers.host, way.target, error))
      })
    },
  }
}

/**
 * Ends an upstream request with its client's connection. Responses that wait for an earlier one on the
 * connection are not closed with it.
 */
function endWith(socket: Socket, proxied: ClientRequest): void {
  const end = () => void proxied.destroy()
  if (socket.destroyed) return end()
  socket.once('close', end)
  proxied.once('close', () => socket.off('close', end))
}

/** Sends the headers. A failure is an error of this exchange. */
function flush(proxied: ClientRequest): void {
  try {
    proxied.flushHeaders()
  } catch (error) {
    proxied.destroy(error as Error)
  }
}

/** Forwards the response of an upstream. */
function passOn(proxied: IncomingMessage, response: ServerResponse): void {
  const { headers, statusCode = 0 } = proxied
  if (statusCode < 200 || isCoded(headers)) {
    proxied.destroy()
    return refuse(response, 502, 'the upstream sent a response that cannot be forwarded')
  }
  removeHopHeaders(headers)
  try {
    response.writeHead(statusCode, { ...headers, via: VIA })
    proxied.pipe(response)
  } catch {
    proxied.destroy()
    refuse(response, 502, 'the upstream sent headers that cannot be forwarded')
  }
}

/**
 * Connects both sides of an upgrade. They end together, and neither receives the connection headers of the
 * other.
 */
function joinUpgrade(proxied: ClientRequest, socket: Socket, refusalOf: (error: Error) => string): void {
  let isAnswered = false
  socket.once('close', () => proxied.destroy())
  proxied.on('error', (error) => {
    if (!isAnswered && socket.writable) refuseUpgrade(socket, 502, refusalOf(error))
  })
  proxied.on('response', (response) => {
    isAnswered = true
    response.statusMessage = ''
    if ((response.statusCode ?? 0) < 200) response.statusCode = 502
  })
  proxied.on('upgrade', ({ headers }, upstream) => {
    isAnswered = true
    if (headers.upgrade?.toLowerCase() !== 'websocket') {
      upstream.destroy()
      return void socket.destroy()
    }
    removeHopHeaders(headers)
    Object.assign(headers, { connection: 'Upgrade', upgrade: 'websocket' })
    socket.once('close', () => upstream.destroy())
    upstream.once('close', () => socket.end())
  })
}

/** The destination of a request, or the reason for rejecting it. */
type Way = { readonly route: KeptRoute; readonly target: URL } | Refusal

interface Refusal {
  readonly status: number
  readonly refusal: string
}

/** Returns why an upgrade is rejected. A body would be mistaken for data of the upgraded connection. */
function upgradeRefusal({ method, headers }: IncomingMessage): Refusal | undefined {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket')
    return { status: 501, refusal: 'the edge only forwards upgrades to WebSocket' }
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0)
    return undefined
  return { status: 400, refusal: 'an upgrade request must not have a body' }
}

function wayOf({ headers, headersDistinct, url = '/' }: IncomingMessage, registry: Registry): Way {
  const asked = headers.host ?? ''
  const host = canonicalHost(asked)
  if ((headersDistinct['host']?.length ?? 0) > 1)
    return { status: 400, refusal: 'the request names several hosts' }
  if (headers.via?.includes(VIA))
    return { status: 508, refusal: `${asked} is routed to the edge itself: give the route another upstream` }
  if (!url.startsWith('/')) return { status: 400, refusal: 'the request names no path' }
  if (isCoded(headers)) return { status: 501, refusal: 'the edge only forwards chunked bodies' }
  const path = url.split('?')[0] ?? '/'
  const route = host === undefined ? undefined : registry.lookup(host, path)
  if (route === undefined || route.protocol.toLowerCase() === 'tcp')
    return {
      status: 404,
      refusal: `no route for ${host ?? asked}${path}: register one, or see "ashlar-idp edge status"`,
    }
  const target = URL.canParse(route.upstream) ? new URL(route.upstream) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol))
    return { status: 502, refusal: `${host} is routed to ${route.upstream}, which is not an http address` }
  if (route.backendTls) target.protocol = 'https:'
  return { route, target }
}

/**
 * Prepares the headers for the upstream. It receives the host that the browser requested, but no forwarding
 * headers of the browser.
 */
function prepare(request: IncomingMessage, { path, stripPrefix }: KeptRoute): void {
  const { headers, socket } = request
  const isChunked = headers['transfer-encoding'] !== undefined
  removeHopHeaders(headers)
  if (isChunked) headers['transfer-encoding'] = 'chunked'
  // Node has already answered this header.
  delete headers.expect
  for (const name of Object.keys(headers)) if (FORWARDING.test(name)) delete headers[name]
  const host = headers.host ?? ''
  headers['x-forwarded-for'] = socket.remoteAddress ?? ''
  headers['x-forwarded-host'] = host
  headers['x-forwarded-port'] = /:(\d+)$/.exec(host)?.[1] ?? '443'
  headers['x-forwarded-proto'] = 'https'
  headers.via = headers.via === undefined ? VIA : `${headers.via}, ${VIA}`
  if (stripPrefix && path !== '') {
    const rest = (request.url ?? '').slice(path.length)
    request.url = rest.startsWith('/') ? rest : `/${rest}`
  }
}

/** Returns the options for an upstream. On this machine it may have a self-signed certificate. */
const optionsOf = (target: URL) => ({ target, secure: !isLoopback(target.hostname) })

function unreachable(host: string | undefined, target: unknown, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const upstream = target instanceof URL ? target.origin : 'an upstream'
  return `${host} is routed to ${upstream}, which does not respond (${code ?? message}): is the app running?`
}

/** Sends an error, or ends the response if it has already begun. */
function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy()
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      via: VIA,
    })
    .end(`${text}\n`)
}

function refuseUpgrade(socket: Duplex, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`)
  const head = `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head), body]))
}
