import type { Http2Server, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { Server, type ServerOptions } from '@grpc/grpc-js'
import { closeEnded } from '../../bounds/close-ended.js'
import { destroyLater } from '../../gateway/http/destroy-later.js'

/** Makes what grpc-js calls for each connection, as the `session` event of node:http2. */
type SessionHandler = (
  this: { readonly options: ServerOptions },
  server: Http2Server,
) => (session: ServerHttp2Session) => void

const wrapped = new WeakSet<SessionHandler>()
/** The time the clients of such a server have to close an ended connection, in milliseconds. */
const late = new WeakMap<ServerOptions, number>()

/**
 * Makes the connections of a grpc-js server end as `destroyLater` and `closeEnded` say. grpc-js has no hook
 * for it.
 * @param options - of the server, which keeps them; servers with other options are not affected.
 * @param ms - see `closeEnded`.
 * @throws TypeError when grpc-js no longer has what is wrapped here.
 */
export const endSessionsLate = (options: ServerOptions, ms: number): void => {
  // Private in the types of the package.
  const prototype = Server.prototype as unknown as { _sessionHandler?: SessionHandler }
  const original = prototype._sessionHandler
  if (typeof original !== 'function')
    throw new TypeError('@grpc/grpc-js has no _sessionHandler: this version of it is not supported')
  late.set(options, ms)
  if (wrapped.has(original)) return
  const withLateEnd: SessionHandler = function (server) {
    const handle = original.call(this, server)
    const ms = late.get(this.options)
    if (ms === undefined) return handle
    const isSecure = 'setSecureContext' in server
    server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => closeEnded(socket, ms))
    return (session) => {
      destroyLater(session)
      handle(session)
    }
  }
  wrapped.add(withLateEnd)
  prototype._sessionHandler = withLateEnd
}
