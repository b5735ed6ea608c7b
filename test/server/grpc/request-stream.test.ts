import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { Metadata as NiceMetadata } from 'nice-grpc'
import { type EchoRequest, EchoService } from '../../support/gen/specimens_pb.js'
import { niceClient } from '../../support/grpc/clients.js'
import { frameOf, Http2Frames, RawGrpc } from '../../support/grpc/raw-grpc.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const [NO_ERROR, CANCEL] = [0, 8]

describe('a request stream', () => {
  let running: RunningServer
  let raw: RawGrpc
  /** What each handler that read requests came to: the texts, and how they ended. */
  let read: (readonly [texts: string, end: string])[]
  let ended: () => void
  let first: () => void
  let whenEnded: Promise<void>
  let whenFirst: Promise<void>

  before(async () => {
    const eachOf = async function* (requests: AsyncIterable<EchoRequest>) {
      const texts: string[] = []
      let end = 'left'
      try {
        for await (const { text } of requests) {
          texts.push(text)
          yield { text }
          first()
        }
        end = 'whole'
      } catch (error) {
        end = (error as { code?: string }).code ?? String(error)
        throw error
      } finally {
        read.push([texts.join(' '), end])
        ended()
      }
    }
    running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: ({ text }) => {
          read.push([text, 'whole'])
          ended()
          return { text }
        },
        collect: async (requests) => {
          let last = { text: '' }
          for await (const each of eachOf(requests)) last = each
          return last
        },
        chat: eachOf,
      }),
    )
  })

  beforeEach(() => {
    read = []
    running.records.length = 0
    whenEnded = new Promise((resolve) => (ended = resolve))
    whenFirst = new Promise((resolve) => (first = resolve))
    raw = new RawGrpc(running.grpc)
  })
  afterEach(() => raw.close())
  after(() => running.stop())

  const recorded = async () => {
    while (running.records.length === 0) await pause(2)
    return running.records.map(({ fields }) => fields['code'])
  }

  for (const method of ['Collect', 'Chat']) {
    it(`of ${method} ends when the caller half-closes it`, async () => {
      const { code } = await raw.call(
        method,
        ALICE,
        Buffer.concat([frameOf({ text: 'a' }), frameOf({ text: 'b' })]),
      )
      expect([code, read]).to.deep.equal([0, [['a b', 'whole']]])
      expect(await recorded()).to.deep.equal(['OK'])
    })

    for (const [name, code] of [
      ['NO_ERROR', NO_ERROR],
      ['CANCEL', CANCEL],
    ] as const)
      it(`of ${method} throws Cancelled when it is reset with ${name}`, async () => {
        const frames = new Http2Frames(running.grpc)
        frames.headers(method, ALICE)
        frames.data(frameOf({ text: 'a' }))
        await whenFirst
        frames.reset(code)
        await whenEnded
        expect(read).to.deep.equal([['a', 'CANCELLED']])
        expect(await recorded()).to.deep.equal(['CANCELLED'])
        frames.close()
      })

    it(`of ${method} throws Cancelled when the connection is cut`, async () => {
      const { stream } = raw.open(method, ALICE)
      stream.write(frameOf({ text: 'a' }))
      await whenFirst
      raw.session.destroy()
      await whenEnded
      expect(read).to.deep.equal([['a', 'CANCELLED']])
      expect(await recorded()).to.deep.equal(['CANCELLED'])
    })

    it(`of ${method} throws Cancelled when the client half-closes it and resets it right behind that`, async () => {
      const { stream } = raw.open(method, ALICE)
      stream.write(frameOf({ text: 'a' }))
      await whenFirst
      stream.close(CANCEL)
      await whenEnded
      expect(read).to.deep.equal([['a', 'CANCELLED']])
      expect(await recorded()).to.deep.equal(['CANCELLED'])
    })

    it(`of ${method} throws Cancelled when a nice-grpc client gives it up`, async () => {
      const { client, close } = niceClient(EchoService, running.grpc)
      const caller = new AbortController()
      const say = async function* () {
        yield { text: 'a' }
        await new Promise<never>(() => {})
      }
      const options = { metadata: NiceMetadata(ALICE), signal: caller.signal }
      const call =
        method === 'Collect'
          ? client.collect(say(), options)
          : (async () => {
              for await (const _ of client.chat(say(), options));
            })()
      const failure = call.catch((error: Error) => error.name)
      await whenFirst
      caller.abort()
      expect(await failure).to.equal('AbortError')
      await whenEnded
      expect(read).to.deep.equal([['a', 'CANCELLED']])
      close()
    })

    for (const [name, tail] of [
      ['inside of a message', frameOf({ text: 'bcd' }).subarray(0, -2)],
      ['inside of a length', Buffer.alloc(3)],
      ['behind the length', frameOf({ text: 'bcd' }).subarray(0, 5)],
    ] as const)
      it(`of ${method} that ends ${name} is INTERNAL`, async () => {
        const { code, text } = await raw.call(method, ALICE, Buffer.concat([frameOf({ text: 'a' }), tail]))
        expect([code, text]).to.deep.equal([13, 'the request ended inside a message'])
        expect(read).to.deep.equal([['a', 'INTERNAL']])
        expect(running.records.at(-1)?.fields['code']).to.equal('INTERNAL')
      })
  }

  it('keeps what came before its end, however many messages wait to be read', async () => {
    const many = Array.from({ length: 200 }, (_, n) => frameOf({ text: String(n) }))
    const { code } = await raw.call('Collect', ALICE, Buffer.concat(many))
    expect([code, read[0]?.[0].split(' ').length, read[0]?.[1]]).to.deep.equal([0, 200, 'whole'])
  })

  it('throws Cancelled with messages unread that were sent whole', async () => {
    const frames = new Http2Frames(running.grpc)
    frames.headers('Collect', ALICE)
    frames.data(Buffer.concat(Array.from({ length: 50 }, () => frameOf({ text: 'x' }))))
    frames.reset(CANCEL)
    await Promise.race([whenEnded, pause(100)])
    expect(read.map(([, end]) => end)).not.to.include('whole')
    frames.close()
  })

  it('throws what the listener has refused, which its caller is told, and the log', async () => {
    const { stream, outcome } = raw.open('Collect', ALICE)
    stream.write(frameOf({ text: 'a' }))
    await whenFirst
    const huge = Buffer.alloc(5)
    huge.writeUInt32BE(64 * 1024 * 1024, 1)
    stream.write(huge)
    expect((await outcome).code).to.equal(8)
    await whenEnded
    expect(read).to.deep.equal([['a', 'RESOURCE_EXHAUSTED']])
    expect(await recorded()).to.deep.equal(['RESOURCE_EXHAUSTED'])
  })
})

describe('a unary request', () => {
  let running: RunningServer
  let ran = 0

  before(async () => {
    const echo = () => {
      ran++
      return { text: 'ran' }
    }
    running = await startServer((builder) => builder.register(EchoService, { ...echoService, echo }))
  })
  beforeEach(() => (ran = 0))
  after(() => running.stop())

  for (const code of [NO_ERROR, CANCEL])
    it(`that is reset with ${code} before it ends runs no handler`, async () => {
      const frames = new Http2Frames(running.grpc)
      frames.headers('Echo', ALICE)
      frames.data(frameOf({ text: 'a' }))
      await pause(20)
      frames.reset(code)
      await pause(20)
      expect(ran).to.equal(0)
      frames.close()
    })

  for (const [name, body] of [
    ['a message', frameOf({ text: 'abc' }).subarray(0, -1)],
    ['a second message', Buffer.concat([frameOf({ text: 'abc' }), frameOf({ text: 'd' }).subarray(0, 7)])],
    ['a length', Buffer.alloc(4)],
  ] as const)
    for (const method of ['Echo', 'Count'])
      it(`of ${method} that ends inside of ${name} is INTERNAL and runs no handler`, async () => {
        const raw = new RawGrpc(running.grpc)
        const { code, text } = await raw.call(method, ALICE, body)
        expect([code, text, ran]).to.deep.equal([13, 'the request ended inside a message', 0])
        raw.close()
      })

  it('without any message is still Unimplemented', async () => {
    const raw = new RawGrpc(running.grpc)
    expect((await raw.call('Echo', ALICE, Buffer.alloc(0))).code).to.equal(12)
    raw.close()
  })
})
