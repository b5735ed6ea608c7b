import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
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
const keeping = new WeakSet<ServerOptions>()

/**
 * Lets a grpc-js server see repeated headers that may occur only once. node:http2 drops the second
 * `authorization` and joins two of `account-id`, so that later code could not tell. grpc-js has no hook for
 * it.
 * @param options - of the server, which keeps them; servers with other options are not affected.
 * @throws TypeError when grpc-js no longer has what is wrapped here.
 */
export const keepRepeatedHeaders = (options: ServerOptions): void => {
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
    const withRepeated: StreamHandler = function (interceptors, stream, headers, flags, rawHeaders) {
      // Several values of a name that may have one become a list, which grpc-js reads as several values.
      const several: NodeJS.Dict<string | string[]> = headers
      for (const name of keeping.has(this.options) ? SINGLE_HEADERS : []) {
        if (headers[name] === undefined) continue
        const values: string[] = []
        for (let at = rawHeaders.indexOf(name); at >= 0; at = rawHeaders.indexOf(name, at + 1))
          if (at % 2 === 0) values.push(rawHeaders[at + 1] ?? '')
        if (values.length > 1) several[name] = values
      }
      return handler.call(this, interceptors, stream, headers, flags, rawHeaders)
    }
    wrapped.add(withRepeated)
    prototype[name] = withRepeated
  }
  keeping.add(options)
}
