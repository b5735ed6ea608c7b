import type { ServerHttp2Session } from 'node:http2'

/**
 * Makes a connection of HTTP/2 end only when all of the packet is read that just came. Node destroys a
 * connection as soon as it finds a frame that breaks the protocol, such as data beyond the Content-Length,
 * and then reads the rest of the packet: data of another request behind it ends the process
 * (`onread->IsFunction()` of Node 22).
 */
export function destroyLater(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session)
  session.destroy = (...reason) => void setImmediate(() => destroy(...reason))
}
