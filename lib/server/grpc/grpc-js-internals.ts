import { createRequire } from 'node:module'
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Server, type ServerOptions } from '@grpc/grpc-js'

/** The hooks of a server that grpc-js does not have itself. */
export interface Hooks {
  /** Called for the headers of each stream before grpc-js reads them. */
  readonly headers: (headers: NodeJS.Dict<string | string[]>, rawHeaders: readonly string[]) => void
  /**
   * Called for each stream of gRPC, before anything else of grpc-js is. @returns false if it has responded
   * itself.
   */
  readonly admit: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean
  /** Called for each stream when grpc-js has begun its call, or has refused it. */
  readonly begun: (stream: ServerHttp2Stream) => void
  readonly connection: (socket: Socket) => void
  /** Called for each session before grpc-js sees it. */
  readonly session: (session: ServerHttp2Session) => void
}

/** Other formats, such as grpc-web and JSON, begin alike, and their messages would be misread. */
const CONTENT_TYPE = /^application\/grpc(?:\+proto)?[\t ]*(?:;.*)?$/
const VERSIONS = /^1\.14\./

type StreamHandler = (
  this: Internals,
  interceptors: readonly unknown[],
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[],
) => void

/** The methods of `Server.prototype` that are wrapped. They are private in the types of the package. */
interface Internals {
  readonly options: ServerOptions
  /** The `stream` event of node:http2. */
  _streamHandler: StreamHandler
  _channelzHandler: StreamHandler
  /** Decides by its headers whether a stream becomes a call. */
  _verifyContentType: (this: Internals, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean
  /** Makes the listener of the `session` event of node:http2. */
  _sessionHandler: (this: Internals, server: Http2Server) => (session: ServerHttp2Session) => void
}

const PRIVATE = ['_streamHandler', '_channelzHandler', '_verifyContentType', '_sessionHandler'] as const

/** The hooks by the server's options object, which grpc-js keeps. Servers of other code are not affected. */
const hooked = new WeakMap<ServerOptions, Hooks>()
let isWrapped = false

/**
 * Sets the hooks of the server that is made with these options. No other file knows what is private in
 * grpc-js.
 * @throws TypeError for another version of grpc-js than those it works with.
 */
export const hookServer = (options: ServerOptions, hooks: Hooks): void => {
  const prototype = Server.prototype as unknown as Internals
  checkVersion(prototype)
  if (!isWrapped) wrap(prototype)
  isWrapped = true
  hooked.set(options, hooks)
}

const checkVersion = (prototype: Partial<Internals>): void => {
  const version = installedVersion()
  const missing = PRIVATE.find((name) => typeof prototype[name] !== 'function')
  if (VERSIONS.test(version ?? '1.14.') && missing === undefined) return
  const why = missing === undefined ? '' : `, which has no ${missing}`
  throw new TypeError(
    `@grpc/grpc-js ${version ?? ''} is installed${why}: Ashlar works with 1.14, so run npm install @grpc/grpc-js@~1.14`,
  )
}

/** Undefined in a bundle, which has no packages. */
const installedVersion = (): string | undefined => {
  try {
    const { version } = createRequire(import.meta.url)('@grpc/grpc-js/package.json') as { version: string }
    return version
  } catch {
    return undefined
  }
}

const wrap = (prototype: Internals): void => {
  const { _verifyContentType: verify, _sessionHandler: session } = prototype
  for (const name of ['_streamHandler', '_channelzHandler'] as const) {
    const handle = prototype[name]
    prototype[name] = function (interceptors, stream, headers, flags, rawHeaders) {
      const hooks = hooked.get(this.options)
      hooks?.headers(headers, rawHeaders)
      handle.call(this, interceptors, stream, headers, flags, rawHeaders)
      hooks?.begun(stream)
    }
  }
  prototype._verifyContentType = function (stream, headers) {
    const hooks = hooked.get(this.options)
    if (hooks === undefined) return verify.call(this, stream, headers)
    if (!CONTENT_TYPE.test(headers['content-type'] ?? '')) return verify.call(this, stream, {})
    return verify.call(this, stream, headers) && hooks.admit(stream, headers)
  }
  prototype._sessionHandler = function (server) {
    const handle = session.call(this, server)
    const hooks = hooked.get(this.options)
    if (hooks === undefined) return handle
    server.on('setSecureContext' in server ? 'secureConnection' : 'connection', hooks.connection)
    return (session) => {
      hooks.session(session)
      handle(session)
    }
  }
}
