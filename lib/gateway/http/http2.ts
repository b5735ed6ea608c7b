import {
  constants,
  createServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { DeadlineExceeded, Unimplemented } from '../../errors.js'
import { destroyLater } from './destroy-later.js'
import { closeEnded } from '../../bounds/close-ended.js'
import { closeUnreceived } from '../../bounds/close-unreceived.js'
import { endUnread } from '../../bounds/end-unread.js'
import { reject } from './reject.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE } = constants

export interface Http2Bounds {
  /** Milliseconds until the first request of a connection has come. */
  readonly headersTimeoutMs: number
  /**
   * Milliseconds to receive a whole request with its body, and that a client may take nothing of a response.
   */
  readonly requestTimeoutMs: number
  /** Milliseconds that a connection without a request is kept. */
  readonly keepAliveTimeoutMs: number
  /** Bytes of the headers of a request. A request with more loses its stream. */
  readonly maxHeaderBytes: number
  /** Requests at the same time on one connection; further ones wait at the client. */
  readonly maxConcurrentStreams: number
}

/** The protocols that a TLS client and server agree on (RFC 7301), in order of preference. */
export const HTTP_PROTOCOLS = ['h2', 'http/1.1']

/**
 * Serves HTTP/2 on the connections of a TLS server that chose it, and leaves the others to the server.
 * Requests of both are its `request` and `checkContinue` events. Its event `session` reports each HTTP/2
 * connection. The server must offer `HTTP_PROTOCOLS`.
 */
export function serveHttp2(server: Server, bounds: Http2Bounds): void {
  const { maxConcurrentStreams, maxHeaderBytes } = bounds
  const http2 = createServer({
    settings: { maxConcurrentStreams, maxHeaderListSize: maxHeaderBytes, enablePush: false },
    Http2ServerRequest: Request,
    Http2ServerResponse: Response,
  })
  http2.on('session', (session) => {
    destroyLater(session)
    closeWhenIdle(session, bounds)
    session.on('stream', (stream) => {
      endUnread(stream, bounds.requestTimeoutMs)
      closeUnreceived(stream)
    })
    server.emit('session', session)
  })
  for (const event of ['request', 'checkContinue'])
    http2.on(event, (request: Http2ServerRequest, response: Http2ServerResponse) => {
      refuseWhenLate(request, response, bounds)
      server.emit(event, request, response)
    })
  http2.on('checkExpectation', (request, response) => server.emit('checkExpectation', request, response))
  http2.on('connect', (request: Http2ServerRequest, response: Http2ServerResponse) =>
    reject(...asHttp1(request, response), 405, new Unimplemented('CONNECT is not supported')),
  )
  const [overHttp1] = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') {
      closeEnded(socket, bounds.headersTimeoutMs)
      http2.emit('connection', socket)
    } else overHttp1?.call(server, socket)
  })
}

/** Frames that are not a request, such as a ping, do not prolong a connection. */
function closeWhenIdle(
  session: ServerHttp2Session,
  { headersTimeoutMs, keepAliveTimeoutMs }: Http2Bounds,
): void {
  const close = (): void => session.close()
  let timer = after(headersTimeoutMs, close)
  let streams = 0
  session.on('stream', (stream) => {
    streams++
    clearTimeout(timer)
    stream.once('close', () => {
      streams--
      if (streams === 0 && !session.closed) timer = after(keepAliveTimeoutMs, close)
    })
  })
  session.once('close', () => clearTimeout(timer))
}

function refuseWhenLate(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  { requestTimeoutMs }: Http2Bounds,
): void {
  const { stream } = request
  if (stream.endAfterHeaders) return
  const timer = after(requestTimeoutMs, () => {
    if (stream.state.state === NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE) return
    if (response.headersSent) return void response.destroy()
    stream.once('finish', () => stream.close())
    reject(...asHttp1(request, response), 408, new DeadlineExceeded('the request did not arrive in time'))
  })
  const stop = (): void => clearTimeout(timer)
  stream.once('end', stop)
  stream.once('close', stop)
}

/** `Infinity` means no limit; a value beyond a timer's maximum is nearly none. */
const after = (ms: number, act: () => void): NodeJS.Timeout | undefined =>
  Number.isFinite(ms) ? setTimeout(act, Math.min(ms, MAX_TIMER_MS)) : undefined

/** They have what this framework uses of their counterparts of HTTP/1; the types of Node are unrelated. */
const asHttp1 = (
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): readonly [IncomingMessage, ServerResponse] =>
  [request, response] as unknown as readonly [IncomingMessage, ServerResponse]

/** A request that reads as one of HTTP/1 does. */
class Request extends Http2ServerRequest {
  constructor(...parts: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...parts)
    const { ':authority': authority } = this.headers
    if (authority !== undefined) this.headers.host = authority
    // As node:http does: a body that is cut does not end.
    this.stream.once('aborted', () =>
      this.destroy(
        this.listenerCount('error') > 0 ? new Error('the client ended the request early') : undefined,
      ),
    )
  }
}

Object.defineProperties(Request.prototype, {
  /** True if all of it was read, which of a request that was cut is not so. */
  complete: {
    get(this: Http2ServerRequest): boolean {
      return this.readableEnded
    },
  },
  /** As in `node:http`, without pseudo-headers (RFC 9113 section 8.3). */
  headersDistinct: {
    get(this: Http2ServerRequest): NodeJS.Dict<string[]> {
      const { rawHeaders } = this
      const values = Object.create(null) as NodeJS.Dict<string[]>
      for (let index = 0; index < rawHeaders.length; index += 2) {
        const name = rawHeaders[index]?.toLowerCase() ?? ''
        if (!name.startsWith(':')) (values[name] ??= []).push(rawHeaders[index + 1] ?? '')
      }
      return values
    },
  },
})

/** A response that is written as one of HTTP/1 is. */
class Response<R extends Http2ServerRequest> extends Http2ServerResponse<R> {
  /**
   * `Connection: close` lets the connection end with its last response. HTTP/2 has no such header, but
   * GOAWAY.
   */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (name.toLowerCase() !== 'connection') super.setHeader(name, value)
    else if (value === 'close') this.stream.session?.close()
  }

  /** Cuts it, so that the client does not take it for complete. */
  override destroy(error?: Error): this {
    failures.set(this, error)
    this.stream.close(NGHTTP2_INTERNAL_ERROR)
    return this
  }
}

const failures = new WeakMap<object, Error | undefined>()

Object.defineProperties(Response.prototype, {
  destroyed: {
    get(this: Http2ServerResponse): boolean {
      return this.stream.destroyed
    },
  },
  errored: {
    get(this: Http2ServerResponse): Error | null {
      return failures.get(this) ?? null
    },
  },
})
