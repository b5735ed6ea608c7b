import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { type AshlarError, DeadlineExceeded, InvalidArgument, ResourceExhausted } from '../errors.js'
import { errorBody } from './error-body.js'

export interface HttpServerOptions {
  /** Certificate and key; plain HTTP without. */
  readonly tls?: TlsOptions
  /** For all headers of a request. Default 10,000. */
  readonly headersTimeoutMs?: number
  /** For a whole request with its body. Default 30,000. */
  readonly requestTimeoutMs?: number
  /** How long an idle connection is kept. Default 65,000, more than the common load balancers. */
  readonly keepAliveTimeoutMs?: number
  /** Bytes of request line and headers. Default 16,384. */
  readonly maxHeaderBytes?: number
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** A server that answers what is not HTTP, too large or too slow with an error in the gateway's shape. */
export function createHttpServer(listener: Listener, options: HttpServerOptions = {}): Server {
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000 } = options
  const settings = {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(100, Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
    maxHeaderSize: options.maxHeaderBytes ?? 16_384,
    insecureHTTPParser: false,
    requireHostHeader: true,
    noDelay: true,
  }
  const answering = new WeakMap<Duplex, ServerResponse>()
  const listen: Listener = (request, response) => {
    answering.set(request.socket, response)
    listener(request, response)
  }
  const server =
    options.tls === undefined
      ? createServer(settings, listen)
      : createTlsServer({ ...options.tls, ...settings }, listen)
  server.on('clientError', (cause, socket) => refuse(cause, socket, answering.get(socket)))
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = errorBody(new InvalidArgument('', 'the Expect header must be 100-continue'))
    response
      .writeHead(417, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body)
  })
  return server
}

function refuse(
  cause: Error & { readonly code?: string },
  socket: Duplex,
  response: ServerResponse | undefined,
): void {
  const isAnswering = response !== undefined && response.headersSent && !response.writableFinished
  if (!socket.writable || isAnswering || cause.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, error] = refusalOf(cause.code)
  const body = errorBody(error)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
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
