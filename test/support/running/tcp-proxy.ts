import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and takes the network away. */
export class TcpProxy {
  #state: 'open' | 'refusing' | 'silent' = 'open'
  /** What came while it was silent, and has nobody at its other end yet. */
  readonly #unserved = new Set<Socket>()
  /** Both ends of connections that nothing comes through any more. */
  readonly #forgotten = new Set<Socket>()
  /** Both ends of each connection. */
  readonly #ends = new Map<Socket, Socket>()
  readonly #server = createServer((client) => this.#come(client))

  private constructor(private readonly behind: URL) {}

  /** @param port - of the server, where its address has none. */
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

  /** Cuts every connection, and refuses new ones. */
  refuse(): void {
    this.#state = 'refusing'
    for (const socket of [...this.#ends.keys(), ...this.#unserved, ...this.#forgotten]) socket.destroy()
  }

  /** A black hole: nothing comes through, in either direction, and nobody is told. */
  silence(): void {
    this.#state = 'silent'
    for (const [socket, other] of this.#ends) {
      socket.unpipe(other)
      socket.pause()
    }
  }

  /**
   * Lets everything through again, with what was sent meanwhile.
   * @param forgetting - nothing of the connections of before, and neither end is told.
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
