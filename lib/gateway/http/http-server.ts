import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  type AshlarError,
  DeadlineExceeded,
  InvalidArgument,
  ResourceExhausted,
  Unimplemented,
} from '../../errors.js'
import { hasBody } from './body.js'
import { expectContinue } from './continue.js'
import { errorBody } from './error-body.js'
import { HTTP_PROTOCOLS, serveHttp2 } from './http2.js'
import { reject } from './reject.js'

export interface HttpServerOptions {
  /** Certificate and key. Without them, the server uses plain HTTP. */
  readonly tls?: TlsOptions
  /** Offers HTTP/2 to TLS clients in addition to HTTP/1.1. Default: false. */
  readonly http2?: boolean
  /** Milliseconds to receive all headers of a request. Default: 10,000. */
  readonly headersTimeoutMs?: number
  /**
   * Milliseconds to receive a whole request with its body, and the time in which a client must read part of a
   * response. Default: 30,000.
   */
  readonly requestTimeoutMs?: number
  /**
   * Milliseconds for which an idle connection stays open. The default, 65,000, exceeds the idle timeout of
   * common load balancers.
   */
  readonly keepAliveTimeoutMs?: number
  /** Maximum bytes of request line and headers. Default: 16,384. */
  readonly maxHeaderBytes?: number
  /** Maximum concurrent requests on one HTTP/2 connection. Default: 1,000. */
  readonly maxConcurrentStreams?: number
  /** Maximum concurrent connections. Further connections are closed at once. Default: no limit. */
  readonly maxConnections?: number
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Creates a server that rejects malformed, oversized and slow requests with an error in the gateway's format.
 */
export function createHttpServer(listener: Listener, options: HttpServerOptions = {}): Server {
  const { requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000, maxHeaderBytes = 16_384 } = options
  const headersTimeoutMs = Math.min(options.headersTimeoutMs ?? 10_000, requestTimeoutMs)
  const settings = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(100, headersTimeoutMs / 4),
    maxHeaderSize: maxHeaderBytes,
    insecureHTTPParser: false,
    // Checked below, to respond with an error in the gateway's format.
    requireHostHeader: false,
    noDelay: true,
  }
  const responding = new WeakMap<Duplex, ServerResponse>()
  const listen: Listener = (request, response) => {
    responding.set(request.socket, response)
    if (!hasItsHost(request)) refuseHost(request, response)
    else listener(request, response)
  }
  const { tls, http2 = false, maxConcurrentStreams = 1000 } = options
  const handshake = {
    handshakeTimeout: options.headersTimeoutMs ?? 10_000,
    ...(http2 && { ALPNProtocols: HTTP_PROTOCOLS }),
  }
  const server =
    tls === undefined
      ? createServer(settings, listen)
      : createTlsServer({ ...handshake, ...tls, ...settings }, listen)
  const bounds = {
    headersTimeoutMs,
    requestTimeoutMs,
    keepAliveTimeoutMs,
    maxHeaderBytes,
    maxConcurrentStreams,
  }
  if (tls !== undefined && http2) serveHttp2(server, bounds)
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections
  // The total size of headers is limited instead. With a limit on their number, Node would silently drop the
  // last ones.
  server.maxHeadersCount = 0
  if (Number.isFinite(requestTimeoutMs))
    server.setTimeout(requestTimeoutMs, (socket) =>
      endUnread(socket, responding.get(socket), requestTimeoutMs),
    )
  // `clientError` would respond only after a handshake, which never completes.
  server.on('tlsClientError', (_cause, socket: Socket) => void socket.destroy())
  server.on('clientError', (cause, socket) => refuse(cause, socket, responding.get(socket)))
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    end(socket, '405 Method Not Allowed', new Unimplemented('CONNECT is not supported'))
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Without a body there is nothing to wait for (RFC 9110 section 10.1.1).
    if (hasBody(request)) expectContinue(request, response)
    listen(request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    reject(request, response, 417, new InvalidArgument('', 'the Expect header must be 100-continue'))
  })
  return server
}

/**
 * Returns true if there is exactly one Host header, or none before HTTP/1.1 (RFC 9112 section 3.2). Node
 * silently keeps the first of two.
 */
function hasItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}

const refuseHost = (request: IncomingMessage, response: ServerResponse): void =>
  reject(request, response, 400, new InvalidArgument('', 'the request must have one Host header'))

/**
 * Ends a connection without activity if its client does not read a response, or if it is idle. Slow requests
 * have their own timeouts.
 */
function endUnread(socket: Socket, response: ServerResponse | undefined, ms: number): void {
  const isWaiting =
    response?.writableFinished === false ? socket.writableLength === 0 : response === undefined
  if (isWaiting && !socket.writableEnded) socket.setTimeout(ms)
  else socket.destroy()
}

function refuse(
  cause: Error & { readonly code?: string },
  socket: Duplex,
  response: ServerResponse | undefined,
): void {
  const isResponding = response !== undefined && response.headersSent && !response.writableFinished
  if (!socket.writable || isResponding || cause.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  end(socket, ...refusalOf(cause.code))
}

/** Writes a response without a ServerResponse and closes the connection. */
function end(socket: Duplex, status: string, error: AshlarError): void {
  const body = errorBody(error)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${randomUUID()}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
}

function refusalOf(code: string | undefined): readonly [string, AshlarError] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['431 Request Header Fields Too Large', new ResourceExhausted('the headers are too large')]
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return ['413 Content Too Large', new ResourceExhausted('the chunk extensions are too large')]
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', new DeadlineExceeded('the request did not arrive in time')]
    default:
      return ['400 Bad Request', new InvalidArgument('', 'malformed HTTP request')]
  }
}
