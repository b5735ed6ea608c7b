import { once } from 'node:events'
import type { ServerHttp2Session } from 'node:http2'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { SecureContextOptions, Server as TlsServer } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http'
import { createHttpServer, type HttpServerOptions } from '../../gateway/http/http-server.js'

/**
 * The time that an idle connection stays open at a shutdown. A request sent in that time is answered, and its
 * response closes the connection.
 */
const IDLE_MS = 100

/** The HTTP listener of the gateway. */
export class OwnHttpListener {
  readonly #server: HttpServer
  readonly #responding = new Set<ServerResponse>()
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()
  #isRetired = false
  #onResponded: (() => void) | undefined
  /** Rejects if the listener fails while it serves. */
  readonly broken: Promise<never>

  constructor(listener: RequestListener, options: HttpServerOptions) {
    this.#server = createHttpServer(listener, options)
    for (const event of ['request', 'checkContinue']) this.#server.prependListener(event, this.#keep)
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
    })
    this.broken = once(this.#server, 'error').then(([error]) => {
      throw error
    })
    // listen() reports a failure to bind. A later failure that nothing awaits must not end the process.
    this.broken.catch(() => {})
  }

  /**
   * Binds the address.
   * @param address - `host:port`; an empty host means every interface, port 0 a free port.
   * @returns the bound address.
   */
  async listen(address: string): Promise<string> {
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
    const bindTo = host === '' ? '0.0.0.0' : host.replace(/^\[(.*)\]$/, '$1')
    this.#server.listen({ host: bindTo, port: Number(port) })
    await Promise.race([once(this.#server, 'listening'), this.broken])
    const bound = this.#server.address() as AddressInfo
    return `${host === '' ? '0.0.0.0' : host}:${bound.port}`
  }

  /** Uses this certificate for new connections. */
  renew(context: SecureContextOptions): void {
    if (speaksTls(this.#server)) this.#server.setSecureContext(context)
  }

  /**
   * Keeps responding, and closes each connection with its next response. Otherwise a client could send
   * another request to a connection that is about to be cut.
   */
  retire(): void {
    this.#isRetired = true
    for (const response of this.#responding) sayLast(response)
  }

  /**
   * Stops accepting connections and resolves when the last response has been sent. Idle connections stay open
   * while other responses are pending, so that their next response can close them; then they are cut. HTTP/2
   * connections receive a GOAWAY at once, so that their clients know which requests to send elsewhere.
   */
  async drain(): Promise<void> {
    if (!this.#server.listening) return
    this.retire()
    const closed = once(this.#server, 'close')
    // The close method of node:http would cut idle connections.
    NetServer.prototype.close.call(this.#server)
    for (const session of this.#sessions) session.close()
    await Promise.race([closed, pause(IDLE_MS, undefined, { ref: false })])
    while (this.#responding.size > 0) await new Promise<void>((resolve) => (this.#onResponded = resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Closes the remaining connections. */
  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
  }

  readonly #keep = (_request: IncomingMessage, response: ServerResponse): void => {
    if (this.#isRetired) sayLast(response)
    this.#responding.add(response)
    response.once('close', () => {
      this.#responding.delete(response)
      this.#onResponded?.()
    })
  }
}

/**
 * Returns true if the server uses TLS. Checks for a method instead of the class `tls.Server`, because
 * importing node:tls evaluates all its exports and so loads every root certificate.
 */
const speaksTls = (server: HttpServer): server is HttpServer & TlsServer => 'setSecureContext' in server

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
