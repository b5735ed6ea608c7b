import type { Http2Server, ServerHttp2Session } from 'node:http2'
import { Server, type ServerOptions } from '@grpc/grpc-js'
import { destroyLater } from '../../gateway/http/destroy-later.js'

/** Makes what grpc-js calls for each connection, as the `session` event of node:http2. */
type SessionHandler = (
  this: { readonly options: ServerOptions },
  server: Http2Server,
) => (session: ServerHttp2Session) => void

const wrapped = new WeakSet<SessionHandler>()
const late = new WeakSet<ServerOptions>()

/**
 * Makes the connections of a grpc-js server end as `destroyLater` says. grpc-js has no hook for it.
 * @param options - of the server, which keeps them; servers with other options are not affected.
 * @throws TypeError when grpc-js no longer has what is wrapped here.
 */
export const endSessionsLate = (options: ServerOptions): void => {
  // Private in the types of the package.
  const prototype = Server.prototype as unknown as { _sessionHandler?: SessionHandler }
  const original = prototype._sessionHandler
  if (typeof original !== 'function')
    throw new TypeError('@grpc/grpc-js has no _sessionHandler: this version of it is not supported')
  late.add(options)
  if (wrapped.has(original)) return
  const withLateEnd: SessionHandler = function (server) {
    const handle = original.call(this, server)
    if (!late.has(this.options)) return handle
    return (session) => {
      destroyLater(session)
      handle(session)
    }
  }
  wrapped.add(withLateEnd)
  prototype._sessionHandler = withLateEnd
}
