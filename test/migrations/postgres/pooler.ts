import { randomInt } from 'node:crypto'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy of PostgreSQL's protocol that behaves like the poolers people put in front of it. */
export interface Pooler {
  /** The connection string of the database it was made for, with the proxy's address. */
  readonly url: string
  close(): Promise<void>
}

/**
 * In mode `transaction` a client has a server session for as long as a transaction lasts; in mode `session`
 * for as long as it is connected. Either way it makes up the key that the client is given, as every pooler
 * does.
 */
export async function startPooler(url: string, mode: 'transaction' | 'session'): Promise<Pooler> {
  const target = new URL(url)
  const idle: Backend[] = []
  const all = new Set<Socket>()
  const server = createServer((client) => {
    all.add(client)
    let backend: Backend | undefined
    let waiting = Promise.resolve()
    const messages = new Messages(true)
    const release = () => {
      if (backend === undefined) return
      backend.onMessage = () => undefined
      idle.push(backend)
      backend = undefined
    }
    const handle = async (type: string, message: Buffer) => {
      if (type === '') return greet(client, message)
      if (type === 'X') return void client.end()
      if (backend === undefined) {
        backend = idle.pop() ?? (await openBackend(target, all))
        backend.onMessage = (kind, answer) => {
          client.write(answer)
          if (mode === 'transaction' && kind === 'Z' && answer.at(-1) === 0x49) release()
        }
      }
      backend.socket.write(message)
    }
    client.on('data', (chunk) => {
      for (const [type, message] of messages.read(chunk)) waiting = waiting.then(() => handle(type, message))
    })
    client.on('error', () => undefined)
    // A session that its client left in the middle of something is of no use to the next one.
    client.on('close', () => backend?.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const pooled = new URL(url)
  pooled.hostname = '127.0.0.1'
  pooled.port = String((server.address() as AddressInfo).port)
  return {
    url: pooled.href,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of all) socket.destroy()
      }),
  }
}

interface Backend {
  readonly socket: Socket
  onMessage: (type: string, message: Buffer) => void
}

const SSL_REQUEST = 80_877_103

function greet(client: Socket, message: Buffer): void {
  if (message.readInt32BE(4) === SSL_REQUEST) {
    client.write('N')
    return
  }
  const key = Buffer.alloc(8)
  key.writeInt32BE(randomInt(1 << 30), 0)
  client.write(
    Buffer.concat([
      frame('R', Buffer.from([0, 0, 0, 0])),
      frame('S', Buffer.from('server_version\x0015.0\0')),
      frame('K', key),
      frame('Z', Buffer.from('I')),
    ]),
  )
}

function openBackend(target: URL, all: Set<Socket>): Promise<Backend> {
  const socket = connect(Number(target.port || 5432), target.hostname)
  all.add(socket)
  socket.on('error', () => undefined)
  const text = `user\0${target.username}\0database\0${target.pathname.slice(1)}\0\0`
  const startup = Buffer.alloc(8)
  startup.writeInt32BE(8 + text.length, 0)
  startup.writeInt32BE(196_608, 4)
  socket.write(Buffer.concat([startup, Buffer.from(text)]))
  const messages = new Messages(false)
  return new Promise((resolve) => {
    const backend: Backend = { socket, onMessage: (type) => (type === 'Z' ? resolve(backend) : undefined) }
    socket.on('data', (chunk) => {
      for (const [type, message] of messages.read(chunk)) backend.onMessage(type, message)
    })
  })
}

function frame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Cuts a stream into messages. What a client sends before it is greeted has no type. */
class Messages {
  #rest = Buffer.alloc(0)

  constructor(private isGreeting: boolean) {}

  *read(chunk: Buffer): Generator<readonly [type: string, message: Buffer]> {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const lengthAt = this.isGreeting ? 0 : 1
      if (this.#rest.length < lengthAt + 4) return
      const length = lengthAt + this.#rest.readInt32BE(lengthAt)
      if (this.#rest.length < length) return
      const message = this.#rest.subarray(0, length)
      this.#rest = this.#rest.subarray(length)
      const type = this.isGreeting ? '' : String.fromCharCode(message[0] ?? 0)
      if (this.isGreeting && message.readInt32BE(4) !== SSL_REQUEST) this.isGreeting = false
      yield [type, message]
    }
  }
}
