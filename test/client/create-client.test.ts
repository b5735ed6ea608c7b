import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import type { Metadata } from '../../lib/call.js'
import {
  type Client,
  type ClientTransport,
  connectTransport,
  createClient,
  grpcTransport,
} from '../../lib/client/index.js'
import { AshlarError } from '../../lib/errors.js'
import { callService } from '../support/connect/call-service.js'
import { CallRequestSchema, CallService, HeaderSchema } from '../support/gen/calls_pb.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { echoService } from '../support/grpc/echo.js'
import { rejection } from '../support/rejection.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'

const failed = (call: Promise<unknown>) => rejection(call, AshlarError)

describe('createClient', () => {
  let running: RunningServer
  before(async () => {
    running = await startServer(
      (builder) => builder.register(CallService, callService).register(EchoService, echoService),
      {
        gateway: { connect: true, forwardHeaders: ['x-test-request'], responseHeaders: ['x-test-response'] },
      },
    )
  })
  after(() => running.stop())

  const transports: Readonly<Record<string, () => ClientTransport>> = {
    gRPC: () => grpcTransport(running.grpc),
    Connect: () => connectTransport(`${running.http}/`),
  }
  for (const [name, open] of Object.entries(transports))
    describe(`over ${name}`, () => {
      let transport: ClientTransport
      let calls: Client<typeof CallService>
      before(() => {
        transport = open()
        calls = createClient(CallService, { transport, metadata: ALICE })
      })
      after(() => transport.close())

      it('calls, with the metadata of the client and of the call', async () => {
        const request = { data: [Buffer.from('ab')], number: 2n ** 60n + 1n }
        const response = await calls.call(request, { metadata: { 'X-Test-Request': 'one', subject: 'bob' } })
        expect(response.number).to.equal(request.number)
        expect(Buffer.from(response.data).toString()).to.equal('ab')
        expect(anyUnpack(response.request!, CallRequestSchema)?.number).to.equal(request.number)
        const received = new Map(response.received.map(({ name: key, values }) => [key, values]))
        expect(received.get('x-test-request')).to.deep.equal(['one'])
        expect(received.get('subject')).to.deep.equal(['bob'])
        expect(received.get('account-id')).to.deep.equal(['acme'])
      })

      it('sends its deadline, and a token that is made for each attempt', async () => {
        let made = 0
        const dated = createClient(CallService, {
          transport,
          timeoutMs: 4_000,
          metadata: async () => ({ ...ALICE, 'x-test-request': `token ${++made}` }),
        })
        for (const token of ['token 1', 'token 2']) {
          const { timeLeftMs = 0n, received } = await dated.call({})
          expect(Number(timeLeftMs)).to.be.within(1, 4_000)
          expect(received.find(({ name: key }) => key === 'x-test-request')?.values).to.deep.equal([token])
        }
      })

      it('reads headers and trailers', async () => {
        const seen: Metadata[] = []
        await calls.call(
          { headers: [{ name: 'x-test-response', values: ['early'] }] },
          { onHeaders: (headers) => seen.push(headers), onTrailers: (trailers) => seen.push(trailers) },
        )
        expect(seen.map((metadata) => metadata.get('x-test-response'))).to.include('early')
        expect(seen.some((metadata) => metadata.get('x-request-id') !== undefined)).to.equal(true)
      })

      it('fails with the code, the text and the details that the server gave', async () => {
        const details = [{ name: 'cause', values: ['a', 'b'] }]
        const error = await failed(calls.call({ failure: { code: 9, message: 'not now', details } }))
        expect(error).to.include({ code: 'FAILED_PRECONDITION', message: 'not now' })
        const [detail] = error.details
        expect(detail).to.deep.include({ desc: HeaderSchema })
        expect(detail).to.have.nested.property('message.values').that.deep.equals(['a', 'b'])
      })

      it('tells who is not allowed, and which time is none', async () => {
        const strangers = createClient(CallService, { transport })
        const denied = await failed(strangers.call({}))
        expect(denied).to.include({ code: 'PERMISSION_DENIED' })
        const missing = createClient(EchoService, { transport, metadata: ALICE })
        await rejection(missing.ping({}, { timeoutMs: 0 }), RangeError, 'timeoutMs')
      })

      it('follows a stream, and leaves it where its reader does', async () => {
        const echo = createClient(EchoService, { transport, metadata: ALICE })
        const texts: string[] = []
        for await (const { text } of echo.count({ upto: 1_000_000 })) {
          texts.push(text)
          if (texts.length === 3) break
        }
        expect(texts).to.deep.equal(['1', '2', '3'])
      })

      it('tells how a stream failed, behind what it sent', async () => {
        const seen: string[] = []
        const data = [Buffer.from('a'), Buffer.from('b')]
        const read = async () => {
          const stream = calls.follow({ data, failure: { code: 8, message: 'too much', details: [] } })
          for await (const response of stream) seen.push(Buffer.from(response.data).toString())
        }
        expect(await failed(read())).to.include({ code: 'RESOURCE_EXHAUSTED', message: 'too much' })
        expect(seen).to.deep.equal(['a', 'b'])
      })

      it('ends when its signal aborts', async () => {
        const controller = new AbortController()
        const call = calls.call({ delayMs: 20_000 }, { signal: controller.signal })
        setTimeout(() => controller.abort(), 20)
        expect(await failed(call)).to.include({ code: 'CANCELLED' })
        expect(await failed(calls.call({}, { signal: controller.signal }))).to.include({ code: 'CANCELLED' })
        const stream = async () => {
          for await (const _ of calls.follow({ data: [Buffer.from('a')] }, { signal: controller.signal }));
        }
        expect(await failed(stream())).to.include({ code: 'CANCELLED' })
      })

      it('gives up when its time is over, also where a stream is slow', async () => {
        expect(await failed(calls.call({ delayMs: 20_000 }, { timeoutMs: 50 }))).to.include({
          code: 'DEADLINE_EXCEEDED',
        })
        const slow = async () => {
          for await (const _ of calls.follow(
            { data: [Buffer.from('a')], delayMs: 20_000 },
            { timeoutMs: 50 },
          ));
        }
        expect(await failed(slow())).to.include({ code: 'DEADLINE_EXCEEDED' })
      })

      for (const [key, value] of [
        ['host', 'evil.example.com'],
        [':authority', 'evil.example.com'],
        ['grpc-timeout', '1S'],
        ['connect-timeout-ms', '1'],
        ['content-type', 'text/plain'],
        ['x a', 'b'],
        ['x-a', 'line\nbreak'],
        ['x-a-bin', 'not base64!'],
      ] as const)
        it(`refuses ${JSON.stringify(key)}: ${JSON.stringify(value)} as metadata`, async () => {
          await rejection(calls.call({}, { metadata: { [key]: value } }), TypeError, '^metadata: ')
        })

      it('refuses calls when it was closed', async () => {
        const closed = open()
        closed.close()
        await rejection(createClient(CallService, { transport: closed }).call({}), Error)
      })
    })

  describe('streams of requests', () => {
    async function* words(...texts: readonly string[]) {
      for (const text of texts) yield await Promise.resolve({ text })
    }

    it('are sent over gRPC', async () => {
      const transport = grpcTransport(running.grpc)
      const echo = createClient(EchoService, { transport, metadata: ALICE })
      expect((await echo.collect(words('a', 'b', 'c'))).text).to.equal('a b c')
      const replies: string[] = []
      for await (const { text } of echo.chat(words('d', 'e'))) replies.push(text)
      expect(replies).to.deep.equal(['D', 'E'])
      const failing = async function* () {
        yield await Promise.resolve({ text: 'f' })
        throw new TypeError('no more')
      }
      await rejection(echo.collect(failing()), TypeError, 'no more')
      const chat = async () => {
        for await (const _ of echo.chat(failing()));
      }
      await rejection(chat(), TypeError, 'no more')
      transport.close()
    })

    it('are refused over Connect, which has none in HTTP/1.1', async () => {
      const echo = createClient(EchoService, { transport: connectTransport(running.http), metadata: ALICE })
      expect(await failed(echo.collect(words('a')))).to.include({ code: 'UNIMPLEMENTED' })
      const chat = async () => {
        for await (const _ of echo.chat(words('a')));
      }
      expect(await failed(chat())).to.include({ code: 'UNIMPLEMENTED' })
    })
  })

  it('refuses addresses and options that make no sense', () => {
    for (const address of ['localhost', 'http://localhost:80', 'a b:1', ''])
      expect(() => grpcTransport(address)).to.throw(TypeError, 'host:port')
    for (const url of ['localhost:80', 'ftp://a', '', 'https://user:pass@a', 'https://a?b=c'])
      expect(() => connectTransport(url)).to.throw(TypeError, 'connectTransport: the address')
    const transport = connectTransport('https://api.example.com')
    expect(() => createClient(CallService, { transport, timeoutMs: -1 })).to.throw(RangeError, 'timeoutMs')
    expect(() => createClient(CallService, { transport, retry: { maxAttempts: 0 } })).to.throw(
      RangeError,
      'retry.maxAttempts',
    )
  })
})
