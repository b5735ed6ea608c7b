import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { RequestListener, Server as HttpServer, ServerResponse } from 'node:http'
import { createHttpServer, type HttpServerOptions } from '../gateway/http-server.js'

/** The HTTP listener in front of the gateway. */
export class HttpDoor {
  readonly #server: HttpServer
  readonly #answering = new Set<ServerResponse>()
  #isDraining = false
  /** Rejects when the listener breaks after it was bound. */
  readonly broken: Promise<never>

  constructor(listener: RequestListener, options: HttpServerOptions) {
    this.#server = createHttpServer(listener, options)
    this.#server.prependListener('request', (_request, response: ServerResponse) => this.#keep(response))
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

  /** Stops accepting and resolves when the last request is answered. */
  async drain(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#isDraining = true
    for (const response of this.#answering) sayLast(response)
    this.#server.close()
    this.#server.closeIdleConnections()
    await closed
  }

  /** Ends what is left. */
  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** A connection that is kept alive would go on asking, and its last call be cut: while draining, each answer is its last. */
  #keep(response: ServerResponse): void {
    if (this.#isDraining) return sayLast(response)
    this.#answering.add(response)
    response.once('close', () => this.#answering.delete(response))
  }
}

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
