import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { Server, type ServerOptions } from '@grpc/grpc-js'
import { SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'

/**
 * The handler that grpc-js calls for each stream, as the `stream` event of node:http2, after its own
 * interceptors.
 */
type StreamHandler = (
  this: { readonly options: ServerOptions },
  interceptors: readonly unknown[],
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[],
) => void

const HANDLERS = ['_streamHandler', '_channelzHandler'] as const
const wrapped = new WeakSet<StreamHandler>()
const ours = new WeakSet<ServerOptions>()

/**
 * Prepares the streams of a grpc-js server, which has no hook for it. Repeated headers that may occur only
 * once stay: node:http2 drops the second `authorization` and joins two of `account-id`, so that later code
 * could not tell. A stream that is refused by its headers is closed, also when its client sends on.
 * @param options - of the server, which keeps them; servers with other options are not affected.
 * @throws TypeError when grpc-js no longer has what is wrapped here.
 */
export const wrapStreams = (options: ServerOptions): void => {
  // Private in the types of the package.
  const prototype = Server.prototype as unknown as Record<
    (typeof HANDLERS)[number],
    StreamHandler | undefined
  >
  for (const name of HANDLERS) {
    const handler = prototype[name]
    if (typeof handler !== 'function')
      throw new TypeError(`@grpc/grpc-js has no ${name}: this version of it is not supported`)
    if (wrapped.has(handler)) continue
    const prepared: StreamHandler = function (interceptors, stream, headers, flags, rawHeaders) {
      if (!ours.has(this.options)) return handler.call(this, interceptors, stream, headers, flags, rawHeaders)
      keepRepeated(headers, rawHeaders)
      handler.call(this, interceptors, stream, headers, flags, rawHeaders)
      // nghttp2 sends no response that is not sent yet behind a reset.
      if (stream.writableEnded && !stream.endAfterHeaders)
        setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    }
    wrapped.add(prepared)
    prototype[name] = prepared
  }
  ours.add(options)
}

/** Several values of a name that may have one become a list, which grpc-js reads as several values. */
const keepRepeated = (headers: NodeJS.Dict<string | string[]>, rawHeaders: readonly string[]): void => {
  for (const name of SINGLE_HEADERS) {
    if (headers[name] === undefined) continue
    const values: string[] = []
    for (let at = rawHeaders.indexOf(name); at >= 0; at = rawHeaders.indexOf(name, at + 1))
      if (at % 2 === 0) values.push(rawHeaders[at + 1] ?? '')
    if (values.length > 1) headers[name] = values
  }
}
