import { expect } from 'chai'
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect as connectTo, type Socket } from 'node:net'
import { once } from 'node:events'
import type { Config } from '../../../lib/server/config/config.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { echoService } from '../../support/grpc/echo.js'
import { frameOf, RawGrpc, type RawOutcome } from '../../support/grpc/raw-grpc.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'

const KIB = 1024
/** What all requests may hold together here. */
const LIMIT = 256 * KIB
/** One of them, which is less than what is read early. */
const PART = 30 * KIB

/** The beginning of a message, of the length that its prefix says and never reaches. */
const beginning = (length: number, sent = length): Buffer => {
  const bytes = Buffer.alloc(5 + sent - 1)
  bytes.writeUInt32BE(length, 1)
  return bytes
}

describe('a gRPC request that never ends', () => {
  let running: RunningServer
  let raw: RawGrpc
  const start = async (config: Config = {}) => {
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      limits: { unauthenticatedBytes: LIMIT },
      ...config,
    })
    raw = new RawGrpc(running.grpc)
  }
  afterEach(async () => {
    raw.close()
    await running.stop()
  })

  const leave = (method: string, bytes = beginning(PART), headers: Record<string, string> = {}) => {
    const opened = raw.open(method, headers)
    opened.stream.write(bytes)
    return opened
  }
  const codeOf = async ({ outcome }: { readonly outcome: Promise<RawOutcome> }) => (await outcome).code
  const isServed = async () => {
    const client = new ForeignClient(EchoService, running.grpc)
    const { code } = await client.unary('Echo', { text: 'x'.repeat(PART) }, ALICE)
    client.close()
    const { status } = await fetch(`${running.http}/v1/echo`, post(ALICE, { text: 'x'.repeat(PART) }))
    expect([code, status]).to.deep.equal([0, 200])
  }

  it('or whose response is not read, ends with the time that a call has', async () => {
    const times = { resilience: { requestTimeoutMs: 50 }, limits: { httpRequestMs: 50 } }
    await start({ ...times, reflection: true })
    const session = connectHttp2(`http://${running.grpc}`, { settings: { initialWindowSize: 0 } })
    const open = (path: string, body?: Buffer) => {
      const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
      if (body === undefined) stream.write(Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]))
      else stream.end(body)
      return stream.on('error', () => {})
    }
    const nothing = Buffer.alloc(5)
    const streams = [
      open('/specimens.v1.EchoService/Ping', nothing),
      open('/grpc.health.v1.Health/Check', nothing),
      open('/grpc.health.v1.Health/Watch', nothing),
      open('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'),
    ]
    const read = raw.open('', { ':path': '/grpc.health.v1.Health/Watch' })
    read.stream.end(nothing)
    await once(read.stream, 'data')
    await Promise.all(streams.map((stream) => once(stream, 'close')))
    expect(streams.map(({ rstCode }) => rstCode)).to.deep.equal([8, 8, 8, 8])
    expect(read.stream.closed).to.equal(false)
    session.destroy()
  })

  it('of a connection that has ended does not keep it, whatever its client does', async () => {
    await start({ limits: { grpcKeepaliveTimeoutMs: 50 } })
    const [host = '', port = ''] = running.grpc.split(':')
    const socket = connectTo({ host, port: Number(port), allowHalfOpen: true }).on('error', () => {})
    const goaway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, ...Buffer.alloc(8)])
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    socket.resume().write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, goaway]))
    await once(socket, 'end')
    // A connection that is closed resets whoever sends on.
    await until(() => {
      socket.write('x')
      return socket.destroyed
    })
  })

  for (const method of ['Echo', 'Count', 'Ping'])
    it(`to ${method} ends with the time that a call has, and its stream is closed`, async () => {
      await start({ resilience: { requestTimeoutMs: 50 } })
      for (const bytes of [beginning(PART), beginning(PART, 1), frameOf({ text: 'whole' }), undefined]) {
        const opened = raw.open(method, ALICE)
        if (bytes !== undefined) opened.stream.write(bytes)
        const closed = once(opened.stream, 'close')
        expect([bytes?.length, await codeOf(opened)]).to.deep.equal([bytes?.length, 4])
        await closed
      }
      expect(running.records.filter(({ fields }) => fields['code'] === 'DEADLINE_EXCEEDED')).to.have.length(4)
    })

  it('and is large ends with the time that a call has, also when its caller is known', async () => {
    await start({ resilience: { requestTimeoutMs: 50 } })
    for (const method of ['Echo', 'Count'])
      expect([method, await codeOf(leave(method, beginning(1024 * KIB, 2), ALICE))]).to.deep.equal([
        method,
        4,
      ])
  })

  it('and is large is refused at once when nobody sends it, and its stream is closed', async () => {
    await start()
    for (const method of ['Echo', 'Count', 'Collect', 'Chat']) {
      const opened = leave(method, beginning(1024 * KIB, 200 * KIB))
      const closed = once(opened.stream, 'close')
      expect([method, await codeOf(opened)]).to.deep.equal([method, 7])
      await closed
    }
  })

  it('is refused when all of them hold more than they may, the oldest first, and everybody else is served', async () => {
    await start()
    const left = Array.from({ length: 20 }, () => leave('Echo', beginning(PART), ALICE))
    const told = await Promise.all(left.slice(0, 12).map(codeOf))
    expect(new Set(told)).to.deep.equal(new Set([8]))
    const codes = running.records.flatMap(({ message, fields }) =>
      message === 'rpc' ? [fields['code']] : [],
    )
    expect(new Set(codes)).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
    const warnings = running.records.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([{ unauthenticatedBytes: LIMIT }])
    await isServed()
  })

  it('counts with what its stream takes, also where nothing of it came', async () => {
    await start()
    const [first] = Array.from({ length: 40 }, () => raw.open('Echo', ALICE))
    expect(await codeOf(first as never)).to.equal(8)
    await isServed()
  })

  it('counts on all listeners together', async () => {
    await start()
    const { hostname, port, host } = new URL(running.http)
    const sockets: Socket[] = []
    const oldest = leave('Echo', beginning(PART), ALICE)
    await isServed()
    for (let n = 0; n < 8; n++) {
      const socket = connectTo(Number(port), hostname)
      socket.write(
        `POST /v1/echo HTTP/1.1\r\nHost: ${host}\r\naccount-id: acme\r\nsubject: alice\r\nTransfer-Encoding: chunked\r\n\r\n${PART.toString(16)}\r\n`,
      )
      socket.write(Buffer.alloc(PART, 'x'))
      sockets.push(socket.on('error', () => {}))
    }
    expect(await codeOf(oldest)).to.equal(8)
    const first = sockets[0] as Socket
    const answer = once(first, 'data')
    for (let n = 0; n < 8; n++) leave('Echo')
    expect(String((await answer)[0])).to.match(/^HTTP\/1\.1 429 [^]*retry-after: 1/i)
    await isServed()
    for (const socket of sockets) socket.destroy()
  })

  it('counts for a public method, too, in each message of a stream of requests', async () => {
    await start({ reflection: true })
    const oldest = leave('Ping')
    const streams = Array.from({ length: 20 }, () => reflect(beginning(7 * KIB)))
    expect(await codeOf(oldest)).to.equal(8)
    for (const { stream } of streams) stream.destroy()
    await isServed()
  })

  const reflect = (bytes: Buffer) =>
    leave('', bytes, { ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' })

  const ends: Readonly<Record<string, (stream: ClientHttp2Stream) => unknown>> = {
    'is half-closed': (stream) => stream.end(),
    'is reset': (stream) => stream.close(8),
    'loses its connection': (stream) => stream.session?.destroy(),
  }
  for (const [what, end] of Object.entries(ends))
    for (const method of ['Echo', 'Count', 'Collect', 'Chat', 'Ping'])
      it(`gives back what it holds when it ${what}: ${method}`, async () => {
        await start()
        for (let round = 0; round < 3; round++) {
          const left = Array.from({ length: 6 }, () => leave(method))
          const closed = left.map(({ stream }) => new Promise((resolve) => stream.once('close', resolve)))
          for (const { stream } of left) end(stream)
          await Promise.all(closed)
          raw.close()
          raw = new RawGrpc(running.grpc)
        }
        // Whatever is still counted would now be too much.
        const held = Array.from({ length: 5 }, () => leave('Echo'))
        await isServed()
        for (const { stream } of held) stream.end(Buffer.alloc(1))
        const told = await Promise.all(held.map(codeOf))
        expect(new Set(told)).to.deep.equal(new Set([7]))
      })

  it('gives back what it holds when its call is let in, long before it ends', async () => {
    await start({ authorizer: { authorize: () => true } })
    const held = Array.from({ length: 4 }, () => leave('Echo', beginning(1024 * KIB, 200 * KIB), ALICE))
    await isServed()
    for (const { stream } of held) stream.end(Buffer.alloc(1024 * KIB - 200 * KIB + 1))
    // All of it came: nothing of it is a message.
    expect(new Set(await Promise.all(held.map(codeOf)))).to.deep.equal(new Set([3]))
  })

  it('is not dropped while somebody decides about its call: others are, that ask for more', async () => {
    const waiting: (() => void)[] = []
    await start({
      authorizer: {
        authorize: () => new Promise<boolean>((resolve) => void waiting.push(() => resolve(true))),
      },
    })
    const oldest = leave('Echo', beginning(1024 * KIB, 8 * KIB), ALICE)
    await until(() => waiting.length === 1)
    let refused = 0
    for (let n = 0; n < 6; n++)
      void codeOf(leave('Echo', beginning(1024 * KIB, 100 * KIB), ALICE)).then(
        (code) => code === 8 && refused++,
      )
    await until(() => refused >= 4)
    for (const decide of waiting) decide()
    oldest.stream.end(Buffer.alloc(1024 * KIB - 8 * KIB + 1))
    expect(await codeOf(oldest)).to.equal(3)
  })

  it('is dropped where most comes from, and a caller of another network goes on', async () => {
    await start()
    const { hostname, port, host } = new URL(running.http)
    const friend = connectTo({ host: hostname, port: Number(port), localAddress: '127.0.0.2' })
    const body = JSON.stringify({ text: 'x'.repeat(2 * PART) })
    friend.write(
      `POST /v1/echo HTTP/1.1\r\nHost: ${host}\r\naccount-id: acme\r\nsubject: alice\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    )
    await once(friend, 'ready')
    const strangers = Array.from({ length: 20 }, () => leave('Echo', beginning(PART), ALICE))
    expect(new Set(await Promise.all(strangers.slice(0, 12).map(codeOf)))).to.deep.equal(new Set([8]))
    friend.write(body.slice(-1))
    expect(String((await once(friend, 'data'))[0])).to.match(/^HTTP\/1\.1 200 /)
    friend.destroy()
  })
})
