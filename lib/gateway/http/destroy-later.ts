import type { ServerHttp2Session } from 'node:http2'

/**
 * Delays the end of an HTTP/2 connection until the received packet has been read completely. Node destroys a
 * connection as soon as it finds a frame that violates the protocol, such as data beyond the Content-Length,
 * and then reads the rest of the packet. Data of another request in it would end the process
 * (`onread->IsFunction()` in Node 22).
 */
export function destroyLater(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session)
  session.destroy = (...reason) => void setImmediate(() => destroy(...reason))
}
