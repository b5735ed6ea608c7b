import { toBinary, create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  connect as connectHttp2,
  constants,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { CountRequestSchema, EchoRequestSchema, EchoService } from '../support/gen/specimens_pb.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { drill } from '../support/drill.js'
import { ALICE, post } from '../support/servers/server.js'

interface Counts {
  /** Messages that streams have sent so far. */
  readonly sent: number
  /** Unary handlers at work. */
  readonly inside: number
  /** The most of them since the last question. */
  readonly mostInside: number
  readonly rss: number
}

/** A server process that can be asked how it is. */
class Host {
  private constructor(
    readonly child: ChildProcess,
    readonly grpc: string,
    readonly http: string,
  ) {}

  static async start(limits = ''): Promise<Host> {
    const script = fileURLToPath(new URL('hosts/hostile-clients.js', import.meta.url))
    const child = fork(script, [`?${limits}`], { execArgv: ['--expose-gc'] })
    const [{ grpc, http }] = (await once(child, 'message')) as [{ grpc: string; http: string }]
    return new Host(child, grpc, http)
  }

  get port(): number {
    return Number(this.grpc.split(':')[1])
  }

  get httpPort(): number {
    return Number(this.http.split(':')[1])
  }

  async ask(): Promise<Counts> {
    this.child.send('ask')
    const [counts] = (await once(this.child, 'message')) as [Counts]
    return counts
  }

  /** Asks until the answer is as wanted; the test's own time ends it. */
  async until(wanted: (counts: Counts) => boolean): Promise<Counts> {
    for (;;) {
      const counts = await this.ask()
      if (wanted(counts)) return counts
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Somebody else is answered, on both listeners. */
  async answersOthers(): Promise<void> {
    const client = new ForeignClient(EchoService, this.grpc)
    const { code } = await client.unary('Echo', { text: 'me' }, ALICE, { deadline: Date.now() + 20_000 })
    client.close()
    const { status } = await fetch(`http://${this.http}/v1/echo`, post(ALICE, { text: 'me' }))
    expect([code, status]).to.deep.equal([0, 200])
  }

  stop(): void {
    this.child.kill('SIGKILL')
  }
}

const HEADERS = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
  ...ALICE,
}

const frame = (message: Uint8Array, isCompressed = false): Buffer => {
  const head = Buffer.alloc(5)
  head[0] = isCompressed ? 1 : 0
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const session = (host: Host): ClientHttp2Session => {
  const made = connectHttp2(`http://${host.grpc}`)
  made.on('error', () => {})
  return made
}

const open = (client: ClientHttp2Session, method: string, body?: Buffer, headers = {}): ClientHttp2Stream => {
  const stream = client.request({ ...HEADERS, ...headers, ':path': `/specimens.v1.EchoService/${method}` })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  return stream
}

const ended = (client: ClientHttp2Session): Promise<unknown> =>
  client.destroyed ? Promise.resolve() : new Promise((resolve) => client.once('close', resolve))

const echo = (fields: object): Buffer => frame(toBinary(EchoRequestSchema, create(EchoRequestSchema, fields)))

/** The status that a stream ended with. */
const statusOf = (stream: ClientHttp2Stream): Promise<number> =>
  new Promise((resolve) => {
    stream.once('response', (headers: IncomingHttpHeaders) => {
      if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']))
    })
    stream.once('trailers', (trailers: IncomingHttpHeaders) => resolve(Number(trailers['grpc-status'])))
    stream.resume()
  })

/** A connection that begins as HTTP/2 must and goes on as its user likes. */
const rawSession = async (host: Host): Promise<Socket> => {
  const socket = connect(host.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(rawFrame(4, 0, 0, Buffer.alloc(0)))
  return socket
}

const rawFrame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Headers that are written out (RFC 7541 section 6.2.2), of less than 127 bytes each. */
const literals = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries({ ':scheme': 'http', ':authority': 'localhost', ...headers })
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) =>
        Buffer.from(
          `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`,
        ),
      ),
  )

/** Writes as much as the other side takes, and resolves when it has closed the connection. */
const flood = async (socket: Socket, piece: Buffer, times: number): Promise<void> => {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let isClosed = false
  void closed.then(() => (isClosed = true))
  socket.resume()
  for (let n = 0; n < times && !isClosed; n++)
    if (!socket.write(piece)) await Promise.race([closed, once(socket, 'drain').catch(() => {})])
  socket.end()
  await closed
}

describe('hostile clients', () => {
  let host: Host

  before(async () => {
    host = await Host.start()
  })
  after(() => host.stop())

  /** What the attack leaves behind after it has ended is next to nothing, however often it comes. */
  const returns = async (attack: () => Promise<void>): Promise<void> => {
    await attack()
    const { rss } = await host.ask()
    const rounds = drill(1, 3)
    for (let n = 0; n < rounds; n++) await attack()
    await host.until((counts) => counts.rss < rss + 48 * 1024 * 1024)
    await host.answersOthers()
  }

  it(`that open ${drill(20, 100)} streams and never read stop their handlers and nobody else`, async () => {
    const count = drill(20, 100)
    await returns(async () => {
      const { sent } = await host.ask()
      const clients = Array.from({ length: count }, () => session(host))
      const request = frame(toBinary(CountRequestSchema, create(CountRequestSchema, { upto: 1_000_000 })))
      const streams = clients.map((client) => open(client, 'Count', request))
      await Promise.all(streams.map((stream) => once(stream, 'response')))
      await host.answersOthers()
      // 64 KiB each: what a window and the buffers of a stream hold, and not a million of them.
      expect((await host.ask()).sent - sent).to.be.at.most(count * 20)
      for (const client of clients) client.destroy()
      await Promise.all(clients.map(ended))
    })
  })

  it(`that open ${drill(20, 100)} streams over HTTP and never read stop their handlers and nobody else`, async () => {
    const count = drill(20, 100)
    await returns(async () => {
      const { sent } = await host.ask()
      const sockets = Array.from({ length: count }, () => {
        const socket = connect({ port: host.httpPort, host: '127.0.0.1' }).pause()
        socket.on('error', () => {})
        const identity = Object.entries(ALICE).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`GET /v1/count?upto=1000000 HTTP/1.1\r\nHost: a\r\n${identity.join('')}\r\n`)
        return socket
      })
      await host.until((counts) => counts.sent - sent >= count)
      await host.answersOthers()
      // What the kernel takes of a connection of this machine is megabytes.
      let before = -1
      const settled = await host.until((counts) => {
        const isStill = counts.sent === before
        before = counts.sent
        return isStill
      })
      expect(settled.sent - sent).to.be.below(count * 1_000)
      for (const socket of sockets) socket.destroy()
    })
  })

  it(`that ask ${drill(20, 100)} times for much and never read keep nothing when they go`, async () => {
    await returns(async () => {
      const clients = Array.from({ length: drill(20, 100) }, () => session(host))
      const streams = clients.map((client) => open(client, 'Echo', echo({ text: 'much' })))
      await Promise.all(streams.map((stream) => once(stream, 'response')))
      await host.answersOthers()
      for (const client of clients) client.destroy()
      await Promise.all(clients.map(ended))
    })
  })

  it('that say their message is of 4 GiB are told so at once', async () => {
    await returns(async () => {
      const client = session(host)
      const huge = Buffer.from([0, 0xff, 0xff, 0xff, 0xff])
      const streams = Array.from({ length: drill(50, 500) }, () => {
        const stream = open(client, 'Echo')
        stream.write(huge)
        return stream
      })
      const statuses = await Promise.all(streams.map(statusOf))
      expect(new Set(statuses)).to.deep.equal(new Set([8]))
      client.destroy()
      await ended(client)
    })
  })

  it('whose message inflates to 256 MiB are told so without inflating it', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024))
    await returns(async () => {
      const client = session(host)
      const statuses = await Promise.all(
        Array.from({ length: drill(4, 32) }, () =>
          statusOf(open(client, 'Echo', frame(bomb, true), { 'grpc-encoding': 'gzip' })),
        ),
      )
      expect(new Set(statuses)).to.deep.equal(new Set([8]))
      client.destroy()
      await ended(client)
    })
  })

  it('that reset what they have just asked for, 10,000 times, lose their connection', async () => {
    await returns(async () => {
      const client = session(host)
      await once(client, 'connect')
      let resets = 0
      const closed = ended(client)
      while (resets < 10_000 && !client.destroyed && !client.closed) {
        for (let n = 0; n < 100 && !client.destroyed && !client.closed; n++, resets++) {
          const stream = open(client, 'Echo', echo({ text: 'a', flag: true }))
          stream.close(constants.NGHTTP2_CANCEL)
        }
        await new Promise(setImmediate)
      }
      await closed
      expect((await host.until(({ inside }) => inside === 0)).inside).to.equal(0)
    })
  })

  it('that ask for 5,000 things at a time get 1,000 of them, and leave nothing running when they go', async () => {
    await returns(async () => {
      const client = session(host)
      await once(client, 'remoteSettings')
      for (let n = 0; n < drill(2_000, 5_000); n++) open(client, 'Echo', echo({ text: 'a', flag: true }))
      await host.until(({ inside }) => inside >= 1_000)
      await host.answersOthers()
      expect((await host.ask()).mostInside).to.be.at.most(1_001)
      client.destroy()
      await ended(client)
      await host.until(({ inside }) => inside === 0)
    })
  })

  it('that send more than their Content-Length, and another request in the same packet, disturb nobody', async () => {
    await returns(async () => {
      for (let n = 0; n < drill(5, 50); n++) {
        const socket = await rawSession(host)
        socket.write(
          Buffer.concat([
            rawFrame(1, 4, 1, literals({ ...HEADERS, ':path': '/a', 'content-length': '1' })),
            rawFrame(0, 0, 1, Buffer.alloc(100)),
            rawFrame(1, 4, 3, literals({ ...HEADERS, ':path': '/a' })),
            rawFrame(0, 0, 3, Buffer.alloc(100)),
          ]),
        )
        await host.ask()
        socket.destroy()
      }
    })
  })

  const PINGS = Buffer.concat(Array.from({ length: 1_000 }, () => rawFrame(6, 0, 0, Buffer.alloc(8))))
  const SETTINGS = Buffer.concat(Array.from({ length: 1_000 }, () => rawFrame(4, 0, 0, Buffer.alloc(0))))
  const CONTINUATIONS = Buffer.concat(
    Array.from({ length: 100 }, () => rawFrame(9, 0, 1, Buffer.alloc(1_000, 0x40))),
  )
  for (const [what, begin, piece] of [
    ['PING', Buffer.alloc(0), PINGS],
    ['SETTINGS', Buffer.alloc(0), SETTINGS],
    ['CONTINUATION', rawFrame(1, 0, 1, Buffer.alloc(0)), CONTINUATIONS],
  ] as const)
    it(`that send ${what} without end disturb nobody`, async () => {
      await returns(async () => {
        const socket = await rawSession(host)
        socket.write(begin)
        const over = flood(socket, piece, drill(200, 2_000))
        await host.answersOthers()
        await over
      })
    })

  describe('that say nothing', () => {
    const COUNT = drill(100, 1_000)
    let impatient: Host

    before(async () => {
      impatient = await Host.start('grpcKeepaliveMs=500&grpcKeepaliveTimeoutMs=500&httpHeadersMs=500')
    })
    after(() => impatient.stop())

    for (const listener of ['gRPC', 'HTTP'])
      it(`over ${COUNT} connections to the ${listener} listener are let go, and others are served meanwhile`, async () => {
        const port = listener === 'gRPC' ? impatient.port : impatient.httpPort
        const sockets = Array.from({ length: COUNT }, () => connect(port, '127.0.0.1'))
        const gone = sockets.map((socket) => {
          socket.on('error', () => {}).resume()
          return new Promise((resolve) => socket.once('close', resolve))
        })
        await Promise.all(sockets.map((socket) => once(socket, 'connect')))
        await impatient.answersOthers()
        await Promise.all(gone)
        await impatient.answersOthers()
      })

    it('but half a request are let go, too', async () => {
      const sockets = ['GET / HTTP/1.1\r\nHost: a\r\n', 'POST /v1/echo HTTP/1.1\r\nHost: a\r\nA: '].map(
        (text) => {
          const socket = connect(impatient.httpPort, '127.0.0.1')
          socket.on('error', () => {}).resume()
          socket.write(text)
          return socket
        },
      )
      await Promise.all(sockets.map((socket) => once(socket, 'close')))
    })
  })

  it('are as many over HTTP as the limit says', async () => {
    const small = await Host.start('maxHttpConnections=3')
    const sockets: Socket[] = []
    const connectOne = async (): Promise<Socket> => {
      const socket = connect(small.httpPort, '127.0.0.1')
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
      return socket
    }
    for (let n = 0; n < 3; n++) {
      const socket = await connectOne()
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(socket, 'data')
    }
    const fourth = await connectOne()
    fourth.resume()
    await once(fourth, 'close')
    for (const socket of sockets) socket.destroy()
    small.stop()
  })
})
