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
  /** Milliseconds for the first request of a connection to arrive. */
  readonly headersTimeoutMs: number
  /**
   * Milliseconds to receive a whole request with its body, and the time in which a client must read part of a
   * response.
   */
  readonly requestTimeoutMs: number
  /** Milliseconds for which a connection without a request stays open. */
  readonly keepAliveTimeoutMs: number
  /** Maximum bytes of a request's headers. The stream of a larger request is reset. */
  readonly maxHeaderBytes: number
  /** Maximum concurrent requests on one connection. Further requests wait at the client. */
  readonly maxConcurrentStreams: number
}

/** The protocols that a TLS client can select (RFC 7301), in order of preference. */
export const HTTP_PROTOCOLS = ['h2', 'http/1.1']

/**
 * Serves HTTP/2 on the connections of a TLS server that selected it, and leaves the others to the server.
 * Requests of both protocols are emitted as the server's `request` and `checkContinue` events. The `session`
 * event reports each HTTP/2 connection. The server must offer `HTTP_PROTOCOLS`.
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

/** Closes an idle connection. Frames that are not requests, such as a ping, do not keep it open. */
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

/** Runs `act` after a time. `Infinity` means never; a value beyond a timer's maximum is reduced to it. */
const after = (ms: number, act: () => void): NodeJS.Timeout | undefined =>
  Number.isFinite(ms) ? setTimeout(act, Math.min(ms, MAX_TIMER_MS)) : undefined

/**
 * Casts HTTP/2 objects to their HTTP/1 counterparts. They have the members that this framework uses, but
 * Node's types are unrelated.
 */
const asHttp1 = (
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): readonly [IncomingMessage, ServerResponse] =>
  [request, response] as unknown as readonly [IncomingMessage, ServerResponse]

/** An HTTP/2 request with the behavior of an HTTP/1 request. */
class Request extends Http2ServerRequest {
  constructor(...parts: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...parts)
    const { ':authority': authority } = this.headers
    if (authority !== undefined) this.headers.host = authority
    // As in node:http, a body that is cut off emits no end.
    this.stream.once('aborted', () =>
      this.destroy(
        this.listenerCount('error') > 0 ? new Error('the client ended the request early') : undefined,
      ),
    )
  }
}

Object.defineProperties(Request.prototype, {
  /** True if the whole request was read. False for a request that was cut off. */
  complete: {
    get(this: Http2ServerRequest): boolean {
      return this.readableEnded
    },
  },
  /** The headers as in `node:http`, without pseudo-headers (RFC 9113 section 8.3). */
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

/** An HTTP/2 response with the behavior of an HTTP/1 response. */
class Response<R extends Http2ServerRequest> extends Http2ServerResponse<R> {
  /**
   * Closes the connection after its last response for `Connection: close`. HTTP/2 has no such header and uses
   * GOAWAY.
   */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (name.toLowerCase() !== 'connection') super.setHeader(name, value)
    else if (value === 'close') this.stream.session?.close()
  }

  /** Resets the stream, so that the client does not consider the response complete. */
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
