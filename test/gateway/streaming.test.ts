import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NO_LIMITS } from '../../lib/resource/messages/message-limits.js'
import { expect } from 'chai'
import { create, type Message } from '@bufbuild/protobuf'
import { InvalidArgument, ResourceExhausted } from '../../lib/errors.js'
import { HttpBodySchema } from 'ashlar-annotations/google/api/httpbody_pb.js'
import { framingOf, sendStream, type StreamOptions } from '../../lib/gateway/streaming.js'
import type { Dispatcher } from '../../lib/call.js'
import { type EchoResponse, EchoResponseSchema } from '../support/gen/specimens_pb.js'
import { TypesService } from '../support/gen/jsontypes_pb.js'
import { type Running, startGateway } from './start-gateway.js'

describe('framingOf', () => {
  for (const [accept, framing] of [
    [undefined, 'ndjson'],
    ['*/*', 'ndjson'],
    ['application/json', 'ndjson'],
    ['application/x-ndjson', 'ndjson'],
    ['text/event-stream', 'sse'],
    ['Text/Event-Stream, */*;q=0.1', 'sse'],
  ] as const)
    it(`of ${accept ?? 'nothing'} is ${framing}`, () => {
      expect(framingOf(accept)).to.equal(framing)
    })
})

describe('server streams through the gateway', () => {
  let running: Running
  before(async () => {
    running = await startGateway()
  })
  after(() => running.stop())
  beforeEach(() => {
    running.dispatcher.before = () => {}
    running.dispatcher.afterEach = undefined
  })
  const SSE = { headers: { accept: 'text/event-stream' } }
  const failAt = (at: number) => (n: number) => {
    if (n === at) throw new ResourceExhausted('enough', 1000)
  }

  it('come as a line of JSON each', async () => {
    const answer = await running.fetch('/v1/count?upto=3')
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('content-type')).to.equal('application/x-ndjson')
    expect(answer.headers.get('x-request-id')).to.equal('minted')
    expect(await answer.text()).to.equal(
      '{"result":{"text":"1"}}\n{"result":{"text":"2"}}\n{"result":{"text":"3"}}\n',
    )
  })

  it('come as an event each to who accepts them', async () => {
    const answer = await running.fetch('/v1/count?upto=2', SSE)
    expect(answer.headers.get('content-type')).to.equal('text/event-stream')
    expect(await answer.text()).to.equal('data: {"text":"1"}\n\ndata: {"text":"2"}\n\n')
  })

  it('may be empty', async () => {
    const answer = await running.fetch('/v1/count')
    expect([answer.status, await answer.text()]).to.deep.equal([200, ''])
  })

  it('arrive as they are made', async () => {
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    running.dispatcher.afterEach = (n) => (n === 2 ? held : undefined)
    const answer = await running.fetch('/v1/count?upto=2')
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).to.equal('{"result":{"text":"1"}}\n')
    release?.()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).to.equal('{"result":{"text":"2"}}\n')
    expect((await reader.read()).done).to.equal(true)
  })

  for (const [what, init] of [
    ['lines', {}],
    ['events', SSE],
  ] as const)
    it(`that fail before the first of their ${what} have the status of the error`, async () => {
      running.dispatcher.before = () => {
        throw new InvalidArgument('upto', 'is too much')
      }
      const answer = await running.fetch('/v1/count?upto=2', init)
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([400, 'application/json'])
      expect(await answer.json()).to.include({ code: 3, message: 'upto: is too much' })
    })

  it('that fail later end in an error line', async () => {
    running.dispatcher.afterEach = failAt(2)
    const lines = (await (await running.fetch('/v1/count?upto=3')).text()).trimEnd().split('\n')
    expect(lines).to.have.lengthOf(2)
    expect(JSON.parse(lines[1] ?? '')).to.have.nested.property('error.code', 8)
  })

  it('that fail later end in an error event', async () => {
    running.dispatcher.afterEach = failAt(2)
    const events = (await (await running.fetch('/v1/count?upto=3', SSE)).text()).split('\n\n')
    expect(events[1]).to.match(/^event: error\ndata: \{"code":8,"message":"enough"/)
  })

  it('end when the caller goes away', async () => {
    let cancelled: (() => void) | undefined
    const gone = new Promise<void>((resolve) => (cancelled = resolve))
    running.dispatcher.before = ({ incoming }) =>
      incoming.caller.signal.addEventListener('abort', () => cancelled?.())
    running.dispatcher.afterEach = (n) => (n === 2 ? new Promise(() => {}) : undefined)
    const leave = new AbortController()
    const answer = await running.fetch('/v1/count?upto=2', { signal: leave.signal })
    leave.abort()
    await gone
    expect(await answer.text().catch((error: unknown) => (error as Error).name)).to.equal('AbortError')
  })
})

describe('sendStream', () => {
  const servers: Server[] = []
  afterEach(() => servers.splice(0).forEach((server) => server.close()))

  /** Sends the answers on a real port. */
  async function sending(
    answers: AsyncIterable<Message>,
    options: Partial<StreamOptions>,
  ): Promise<Response> {
    const server = createServer((_request, response) => {
      sendStream(response, answers, {
        framing: 'sse',
        toContent: (message) => ({ contentType: '', body: (message as EchoResponse).text }),
        beforeHeaders: () => response.setHeader('x-before', 'yes'),
        onFailure: () => {},
        ...options,
      }).catch(() => response.writeHead(500).end())
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      headers: { connection: 'close' },
    })
  }
  const held = (): { readonly promise: Promise<void>; readonly release: () => void } => {
    let release = (): void => {}
    const promise = new Promise<void>((resolve) => (release = resolve))
    return { promise, release }
  }

  it('opens a stream that is quiet, keeps it alive, and puts a late error into it', async () => {
    const { promise, release } = held()
    async function* quiet(): AsyncIterable<Message> {
      await promise
      yield create(EchoResponseSchema, { text: 'one' })
      throw new ResourceExhausted('enough')
    }
    const answer = await sending(quiet(), { openAfterMs: 1, heartbeatMs: 1 })
    expect([answer.status, answer.headers.get('x-before')]).to.deep.equal([200, 'yes'])
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).to.match(/^:\n\n/)
    release()
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest += Buffer.from(next.value).toString()
    expect(rest.replaceAll(':\n\n', '')).to.match(/^data: one\n\nevent: error\ndata: \{"code":8/)
  })

  it('waits for a slow reader instead of keeping everything, and warns of no leak', async () => {
    const warnings: string[] = []
    const listen = (warning: Error): void => void warnings.push(warning.name)
    process.on('warning', listen)
    async function* much(): AsyncIterable<Message> {
      for (let n = 0; n < 200; n++)
        yield await Promise.resolve(create(EchoResponseSchema, { text: 'x'.repeat(50_000) }))
    }
    try {
      const answer = await sending(much(), { framing: 'ndjson' })
      expect((await answer.text()).split('\n')).to.have.lengthOf(201)
      expect(warnings).to.deep.equal([])
    } finally {
      process.off('warning', listen)
    }
  })
})

describe('streams that cannot be written', () => {
  it('end in an internal error, and are logged', async () => {
    const logged: object[] = []
    const dispatcher: Dispatcher = {
      limits: NO_LIMITS,
      unary: () => Promise.reject(new TypeError('not asked for')),
      async *stream(): AsyncIterable<Message> {
        yield await Promise.resolve(create(EchoResponseSchema, { text: 'one' }))
        yield create(EchoResponseSchema, { request: { at: { nanos: -1 } } })
      },
    }
    const running = await startGateway({
      dispatcher,
      logger: { warn: () => {}, error: (fields) => logged.push(fields) },
    })
    const lines = (await (await running.fetch('/v1/count')).text()).trimEnd().split('\n')
    expect(lines).to.deep.equal([
      '{"result":{"text":"one"}}',
      '{"error":{"code":13,"message":"internal error","details":[]}}',
    ])
    expect(logged).to.have.lengthOf(1)
    expect(logged[0]).to.include({ method: 'specimens.v1.EchoService/Count' })
    await running.stop()
  })
})

describe('streams of google.api.HttpBody', () => {
  const stream = (...pieces: readonly (string | Error)[]): Dispatcher => ({
    limits: NO_LIMITS,
    unary: () => Promise.reject(new TypeError('not asked for')),
    async *stream(): AsyncIterable<Message> {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece
        yield await Promise.resolve(
          create(HttpBodySchema, { contentType: 'text/csv', data: Buffer.from(piece) }),
        )
      }
    },
  })
  const ask = async (
    dispatcher: Dispatcher,
  ): Promise<{ readonly answer: Response; readonly stop: () => Promise<void> }> => {
    const { fetch, stop } = await startGateway({ dispatcher, methods: () => TypesService.methods })
    return { answer: await fetch('/v1/raw/x'), stop }
  }

  it('are the bytes as they come', async () => {
    const { answer, stop } = await ask(stream('a,b\n', '1,2\n'))
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).to.deep.equal([
      200,
      'text/csv',
      'a,b\n1,2\n',
    ])
    await stop()
  })

  it('are cut off by an error, never ended as if complete', async () => {
    const { answer, stop } = await ask(stream('a,b\n', new TypeError('broken')))
    expect(await answer.text().catch((error: unknown) => (error as Error).name)).to.equal('TypeError')
    await stop()
  })
})
