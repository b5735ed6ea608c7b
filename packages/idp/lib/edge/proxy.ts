import { createProxyServer } from 'httpxy'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Registry } from './kept-routes.js'
import type { KeptRoute } from './edge-route.js'
import { isLoopback } from '../clients/origins.js'

/** Marks what has been through an edge, so that a route to the edge itself does not go round for ever. */
const VIA = '1.1 ashlar-edge'

/** Passes requests and upgrades to the upstreams of their hosts. */
export interface EdgeProxy {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export function proxyOf(registry: Registry): EdgeProxy {
  const proxy = createProxyServer({ ws: true, xfwd: false, proxyTimeout: 0, timeout: 0 })
  // A client may wait for the response before it sends its body.
  proxy.on('proxyReq', (proxied) => {
    if (proxied.hasHeader('content-length') || proxied.hasHeader('transfer-encoding')) proxied.flushHeaders()
  })
  proxy.on('proxyRes', (proxied, _request, response) => {
    // Node takes these from an upstream, and throws where they are to be sent on, which would end the edge.
    proxied.statusMessage = ''
    if ((proxied.statusCode ?? 0) < 100) proxied.statusCode = 502
    delete proxied.headers.trailer
    response.setHeader('via', VIA)
  })
  return {
    request: (request, response) => {
      const way = wayOf(request, registry)
      if ('refusal' in way) return refuse(response, way.status, way.refusal)
      prepare(request, way.route)
      proxy.web(request, response, optionsOf(way.target)).catch((error: unknown) => {
        if (response.headersSent) return void response.destroy()
        refuse(response, 502, unreachable(way.route, error))
      })
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      const way = wayOf(request, registry)
      if ('refusal' in way) return refuseUpgrade(socket, way.status, way.refusal)
      prepare(request, way.route)
      proxy.ws(request, socket as Socket, optionsOf(way.target), head).catch((error: unknown) => {
        if (socket.writable) refuseUpgrade(socket, 502, unreachable(way.route, error))
      })
    },
  }
}

/** Where a request goes, or why it does not. */
type Way =
  { readonly route: KeptRoute; readonly target: URL } | { readonly status: number; readonly refusal: string }

function wayOf({ headers, url = '/' }: IncomingMessage, registry: Registry): Way {
  const host = hostOf(headers.host ?? '')
  if (headers.via?.includes(VIA))
    return { status: 508, refusal: `${host} is routed to the edge itself: give the route another upstream` }
  if (!url.startsWith('/')) return { status: 400, refusal: 'the request names no path' }
  const path = url.split('?')[0] ?? '/'
  const names = new Set(
    registry
      .list()
      .map((route) => route.host)
      .filter((name) => hostOf(name) === host),
  )
  const routes = [...names].flatMap((name) => registry.lookup(name, path) ?? [])
  const route = routes.find(({ protocol }) => protocol.toLowerCase() !== 'tcp')
  if (route === undefined)
    return {
      status: 404,
      refusal: `no route for ${host}${path}: register one, or see "ashlar-idp edge status"`,
    }
  const target = URL.canParse(route.upstream) ? new URL(route.upstream) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol))
    return { status: 502, refusal: `${host} is routed to ${route.upstream}, which is not an http address` }
  if (route.backendTls) target.protocol = 'https:'
  return { route, target }
}

/** The host as it is compared: without its port and a dot at its end. */
const hostOf = (host: string): string => host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()

/** The upstream sees the host that the browser asked for, and nothing that the browser says about the way. */
function prepare(request: IncomingMessage, { path, stripPrefix }: KeptRoute): void {
  const { headers, socket } = request
  for (const name of Object.keys(headers)) if (/^(x-forwarded-.*|forwarded)$/.test(name)) delete headers[name]
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

/** An upstream of this machine may have a certificate that nobody knows. */
const optionsOf = (target: URL) => ({ target, secure: !isLoopback(target.hostname) })

function unreachable({ host, upstream }: KeptRoute, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `${host} is routed to ${upstream}, which does not respond (${code ?? message}): is the app running?`
}

function refuse(response: ServerResponse, status: number, text: string): void {
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
