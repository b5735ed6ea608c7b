import { createRequire } from 'node:module'
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Server, type ServerOptions } from '@grpc/grpc-js'

/** Hooks into a grpc-js server that grpc-js itself does not offer. */
export interface Hooks {
  /** Called for the headers of each stream before grpc-js reads them. */
  readonly headers: (headers: NodeJS.Dict<string | string[]>, rawHeaders: readonly string[]) => void
  /**
   * Called for each gRPC stream before other code of grpc-js.
   * @returns false if it has responded itself.
   */
  readonly admit: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean
  /** Called for each stream after grpc-js has started its call or rejected it. */
  readonly begun: (stream: ServerHttp2Stream) => void
  readonly connection: (socket: Socket) => void
  /** Called for each session before grpc-js handles it. */
  readonly session: (session: ServerHttp2Session) => void
}

/**
 * Accepts only the plain and the proto format. Other formats, such as grpc-web and JSON, begin with the same
 * prefix, and their messages would be misread.
 */
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

/** The wrapped methods of `Server.prototype`, which the package's types declare private. */
interface Internals {
  readonly options: ServerOptions
  /** Handles the `stream` event of node:http2. */
  _streamHandler: StreamHandler
  _channelzHandler: StreamHandler
  /** Decides by the headers whether a stream becomes a call. */
  _verifyContentType: (this: Internals, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean
  /** Returns the listener of the `session` event of node:http2. */
  _sessionHandler: (this: Internals, server: Http2Server) => (session: ServerHttp2Session) => void
}

const PRIVATE = ['_streamHandler', '_channelzHandler', '_verifyContentType', '_sessionHandler'] as const

/**
 * The hooks, by the options object that grpc-js stores in its server. Servers created by other code are not
 * affected.
 */
const hooked = new WeakMap<ServerOptions, Hooks>()
let isWrapped = false

/**
 * Installs hooks for the server that is created with these options. Only this file accesses private parts of
 * grpc-js.
 * @throws TypeError for an unsupported version of grpc-js.
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

/** Returns the installed version of grpc-js; undefined in a bundle, which contains no packages. */
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
