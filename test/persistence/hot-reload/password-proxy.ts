import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

const ASK_IN_CLEAR = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

/** Stands before a PostgreSQL that trusts everybody, and lets in who knows the password. */
export class PasswordProxy {
  readonly passwords = new Map<string, string>()
  /** Every password that somebody came in with. */
  readonly used: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(private readonly behind: URL) {
    this.#server = createServer((socket) => {
      this.#keep(socket)
      void this.#greet(socket).catch(() => socket.destroy())
    })
  }

  static async before(address: string): Promise<PasswordProxy> {
    const proxy = new PasswordProxy(new URL(address))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get address(): string {
    const url = new URL(this.behind)
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #greet(socket: Socket): Promise<void> {
    const startup = await messageOf(socket, 0)
    if (startup.readInt32BE(4) !== 3 << 16) return void this.#behind(startup, socket)
    const [, user = ''] = /\0?user\0([^\0]*)/.exec(startup.subarray(8).toString()) ?? []
    socket.write(ASK_IN_CLEAR)
    const answer = await messageOf(socket, 1)
    const password = answer.subarray(5, -1).toString()
    if (password !== this.passwords.get(user)) return void socket.end(refusal(user))
    this.used.push(password)
    this.#behind(startup, socket)
  }

  /** A cancel request comes without a password. */
  #behind(startup: Buffer, socket: Socket): void {
    const server = connect(Number(this.behind.port || 5432), this.behind.hostname)
    this.#keep(server)
    server.write(startup)
    socket.pipe(server).pipe(socket)
    socket.on('close', () => server.destroy())
    server.on('close', () => socket.destroy())
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
  }
}

/** A whole message: its length stands after so many bytes for its type. */
async function messageOf(socket: Socket, typeBytes: number): Promise<Buffer> {
  let read = Buffer.alloc(0)
  for (;;) {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) await once(socket, 'readable')
    else read = Buffer.concat([read, chunk])
    if (read.length >= typeBytes + 4 && read.length >= typeBytes + read.readInt32BE(typeBytes)) return read
  }
}

function refusal(user: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "${user}"\0\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
