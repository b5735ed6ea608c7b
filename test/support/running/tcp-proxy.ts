import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between a client and a server that can simulate network failures. */
export class TcpProxy {
  #state: 'open' | 'refusing' | 'silent' = 'open'
  /** Clients that connected while the proxy was silent and have no connection to the server yet. */
  readonly #unserved = new Set<Socket>()
  /** Both ends of connections that no longer transfer data. */
  readonly #forgotten = new Set<Socket>()
  /** The other end of each socket. */
  readonly #ends = new Map<Socket, Socket>()
  readonly #server = createServer((client) => this.#come(client))

  private constructor(private readonly behind: URL) {}

  /**
   * @param port - the port of the server if its address has none.
   */
  static async before(address: string, port: number): Promise<TcpProxy> {
    const behind = new URL(address)
    if (behind.port === '') behind.port = String(port)
    const proxy = new TcpProxy(behind)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return Object.assign(new URL(this.behind), { hostname: '127.0.0.1', port: String(port) }).href
  }

  /** Closes all connections and refuses new ones. */
  refuse(): void {
    this.#state = 'refusing'
    for (const socket of [...this.#ends.keys(), ...this.#unserved, ...this.#forgotten]) socket.destroy()
  }

  /** Stops all data in both directions without closing the connections. */
  silence(): void {
    this.#state = 'silent'
    for (const [socket, other] of this.#ends) {
      socket.unpipe(other)
      socket.pause()
    }
  }

  /**
   * Transfers data again, including data that was sent in the meantime.
   * @param forgetting - if true, connections from before stay silent, and neither end is closed.
   */
  open({ forgetting = false } = {}): void {
    if (this.#state === 'open') return
    this.#state = 'open'
    if (forgetting) {
      for (const socket of this.#ends.keys()) this.#forgotten.add(socket)
      this.#ends.clear()
    }
    for (const [socket, other] of this.#ends) socket.pipe(other)
    for (const client of this.#unserved) this.#serve(client)
    this.#unserved.clear()
  }

  async close(): Promise<void> {
    this.refuse()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #come(client: Socket): void {
    client.on('error', () => {})
    if (this.#state === 'refusing') return void client.destroy()
    if (this.#state === 'open') return this.#serve(client)
    client.pause()
    this.#unserved.add(client)
    client.on('close', () => this.#unserved.delete(client))
  }

  #serve(client: Socket): void {
    const server = connect(Number(this.behind.port), this.behind.hostname)
    server.on('error', () => {})
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#ends.set(socket, other)
      socket.pipe(other)
      socket.on('close', () => {
        this.#ends.delete(socket)
        if (!this.#forgotten.delete(socket)) other.destroy()
      })
    }
  }
}
