import { once } from 'node:events'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { RequestListener, Server as HttpServer, ServerResponse } from 'node:http'
import { createHttpServer, type HttpServerOptions } from '../../gateway/http/http-server.js'

/** How long a connection without a request may still ask one at a shutdown, and so be told that it is closed. */
const IDLE_MS = 100

/** The HTTP listener in front of the gateway. */
export class OwnHttpListener {
  readonly #server: HttpServer
  readonly #responding = new Set<ServerResponse>()
  readonly #sockets = new Set<Socket>()
  #isRetired = false
  #onResponded: (() => void) | undefined
  /** Rejects when the listener breaks after it was bound. */
  readonly broken: Promise<never>

  constructor(listener: RequestListener, options: HttpServerOptions) {
    this.#server = createHttpServer(listener, options)
    for (const event of ['request', 'checkContinue'])
      this.#server.prependListener(event, (_request, response: ServerResponse) => this.#keep(response))
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.broken = once(this.#server, 'error').then(([error]) => {
      throw error
    })
    // Whoever binds is told by listen(); a failure nobody waits for any more must not end the process.
    this.broken.catch(() => {})
  }

  /**
   * Binds.
   * @param address - `host:port`; an empty host is every interface, port 0 a free one.
   * @returns the address that was bound.
   */
  async listen(address: string): Promise<string> {
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
    const bindTo = host === '' ? '0.0.0.0' : host.replace(/^\[(.*)\]$/, '$1')
    this.#server.listen({ host: bindTo, port: Number(port) })
    await Promise.race([once(this.#server, 'listening'), this.broken])
    const bound = this.#server.address() as AddressInfo
    return `${host === '' ? '0.0.0.0' : host}:${bound.port}`
  }

  /** Goes on responding, and makes each response the last one of its connection, which would go on asking and be cut. */
  retire(): void {
    this.#isRetired = true
    for (const response of this.#responding) sayLast(response)
  }

  /**
   * Stops accepting and resolves when the last response is sent. Connections without a request stay as long as others
   * have one, so that they are told with the response to their next one, and are cut then.
   */
  async drain(): Promise<void> {
    if (!this.#server.listening) return
    this.retire()
    const closed = once(this.#server, 'close')
    // The one of node:http cuts connections that wait for their next request.
    NetServer.prototype.close.call(this.#server)
    await Promise.race([closed, pause(IDLE_MS, undefined, { ref: false })])
    while (this.#responding.size > 0) await new Promise<void>((resolve) => (this.#onResponded = resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Ends what is left. */
  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(response: ServerResponse): void {
    if (this.#isRetired) sayLast(response)
    this.#responding.add(response)
    response.once('close', () => {
      this.#responding.delete(response)
      this.#onResponded?.()
    })
  }
}

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
