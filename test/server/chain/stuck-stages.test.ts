import { Client, credentials, Metadata as GrpcMetadata } from '@grpc/grpc-js'
import { expect } from 'chai'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../lib/server/config/config.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { frameOf, RawGrpc } from '../../support/grpc/raw-grpc.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

type Settle = () => void

/** What never settles, unless a test lets it. */
let settled: Settle[] = []
const never = <T>(late: () => T): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    settled.push(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error as Error)
      }
    })
  })

const PRINCIPAL = { subject: 'alice', tenant: 'acme', groups: [], scopes: [] }
const late = new TypeError('settled late')
const fail = (): never => {
  throw late
}

const stages: readonly (readonly [string, (end: () => never | undefined) => Config, 'unary' | 'all'])[] = [
  ['authorizer', (end) => ({ authorizer: { authorize: () => never(() => end() ?? true) } }), 'all'],
  [
    'authenticator',
    (end) => ({ authenticator: { authenticate: () => never(() => end() ?? PRINCIPAL) } }),
    'all',
  ],
  ['principal function', (end) => ({ principalFunc: () => never(() => end() ?? PRINCIPAL) }), 'all'],
  ['rate limiter', (end) => ({ resilience: { rateLimiter: { consume: () => never(() => end()) } } }), 'all'],
  [
    'interceptor',
    (end) => ({ interceptors: [(_call, next) => never(() => end() ?? next()).then((a) => a)] }),
    'unary',
  ],
  [
    'interceptor behind its handler',
    (end) => ({
      interceptors: [async (_call, next) => [await next(), await never(() => end())][0] as never],
    }),
    'unary',
  ],
  [
    'idempotency store',
    (end) => {
      const store = new MemoryIdempotencyStore()
      const claim = store.claim.bind(store)
      store.claim = (...args) => never(() => end() ?? claim(...args)).then((a) => a)
      return { idempotencyStore: store }
    },
    'unary',
  ],
  [
    'idempotency store that keeps a response',
    (end) => {
      const store = new MemoryIdempotencyStore()
      const claim = store.claim.bind(store)
      store.claim = async (...args) => {
        const claimed = await claim(...args)
        if (claimed.state !== 'claimed') return claimed
        const complete = () => never(() => end() ?? true)
        return {
          state: 'claimed',
          claim: { renew: async () => true, release: async () => {}, complete } as never,
        }
      }
      return { idempotencyStore: store }
    },
    'unary',
  ],
]

for (const [name, configOf, calls] of stages)
  describe(`a call whose ${name} never settles`, () => {
    let running: RunningServer
    let ran: number
    let unhandled: unknown[]
    const note = (error: unknown) => void unhandled.push(error)

    const start = async (end: () => never | undefined, requestTimeoutMs = 40) => {
      settled = []
      ran = 0
      unhandled = []
      process.on('unhandledRejection', note)
      const config = configOf(end)
      running = await startServer(
        (builder) =>
          builder.register(EchoService, {
            ...echoService,
            echo: () => ({ text: String(++ran) }),
            count: async function* () {
              yield { text: String(await Promise.resolve(++ran)) }
            },
          }),
        { principalFunc: devPrincipal, ...config, resilience: { requestTimeoutMs, ...config.resilience } },
      )
    }
    afterEach(async () => {
      process.off('unhandledRejection', note)
      await running.stop()
    })

    const HEADERS = { ...ALICE, authorization: 'Bearer x', 'idempotency-key': 'k' }
    const isBehind = name.includes('behind') || name.includes('keeps')

    for (const [how, end] of [
      ['settles', () => undefined],
      ['fails', fail],
    ] as const)
      it(`ends in DeadlineExceeded on both listeners, also when it ${how} late`, async () => {
        await start(end)
        const client = new ForeignClient(EchoService, running.grpc)
        const { code, details, headers } = await client.unary('Echo', {}, HEADERS)
        expect([code, details]).to.deep.equal([4, 'deadline exceeded'])
        expect(headers.get('x-request-id')).to.have.length(1)
        const response = await fetch(`${running.http}/v1/echo`, post({ ...HEADERS, 'idempotency-key': 'l' }))
        expect(response.status).to.equal(504)
        expect(
          running.records.filter(({ message }) => message === 'rpc').map(({ fields }) => fields['code']),
        ).to.deep.equal(['DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED'])
        const before = ran
        for (const settle of settled) settle()
        await pause(20)
        expect(unhandled).to.deep.equal([])
        if (!isBehind) expect([before, ran]).to.deep.equal([0, 0])
        client.close()
      })

    it("ends at the caller's deadline, on both listeners", async () => {
      await start(() => undefined, 60_000)
      const raw = new RawGrpc(running.grpc)
      const headers = { ...HEADERS, 'grpc-timeout': '400m' }
      const { code, requestId } = await raw.call('Echo', headers, frameOf({}))
      expect(code).to.equal(4)
      expect(requestId).to.be.a('string')
      const response = await fetch(`${running.http}/v1/echo`, post({ ...headers, 'idempotency-key': 'l' }))
      expect(response.status).to.equal(504)
      raw.close()
    })

    it('ends in Cancelled when the caller goes away before, and is logged so', async () => {
      await start(() => undefined, 60_000)
      const raw = new RawGrpc(running.grpc)
      const { stream } = raw.open('Echo', HEADERS)
      stream.end(frameOf({}))
      while (settled.length < 1) await pause(2)
      stream.close(8)
      const http = new AbortController()
      const fetched = fetch(`${running.http}/v1/echo`, {
        ...post({ ...HEADERS, 'idempotency-key': 'l' }),
        signal: http.signal,
      }).catch((error: Error) => error.name)
      while (settled.length < 2) await pause(2)
      http.abort()
      expect(await fetched).to.equal('AbortError')
      while (running.records.length < 2) await pause(2)
      expect(running.records.map(({ fields }) => fields['code'])).to.deep.equal(['CANCELLED', 'CANCELLED'])
      raw.close()
    })

    if (calls === 'all')
      for (const [what, timeout, requestTimeoutMs] of [
        ["the caller's deadline", '40m', 60_000],
        ['the time of its method, for a stage, without one', '', 40],
      ] as const)
        it(`ends a stream at ${what}, on both listeners`, async () => {
          await start(() => undefined, requestTimeoutMs)
          const headers = timeout === '' ? HEADERS : { ...HEADERS, 'grpc-timeout': timeout }
          const raw = new RawGrpc(running.grpc)
          for (const method of ['Count', 'Collect', 'Chat']) {
            const { stream, outcome } = raw.open(method, headers)
            stream.write(Buffer.alloc(5))
            if (method === 'Count') stream.end()
            const { code } = await outcome
            expect([method, code]).to.deep.equal([method, 4])
          }
          const response = await fetch(`${running.http}/v1/count?upto=1`, { headers })
          expect(response.status).to.equal(504)
          while (running.records.length < 4) await pause(2)
          expect(running.records.map(({ fields }) => fields['code'])).to.deep.equal(
            Array(4).fill('DEADLINE_EXCEEDED'),
          )
          for (const settle of settled) settle()
          await pause(10)
          expect([ran, unhandled]).to.deep.equal([0, []])
          raw.close()
        })
  })

describe('a key whose idempotency store never responded', () => {
  it('is free when the store is back, and not held by a response that comes late', async () => {
    settled = []
    let isDown = true
    const store = new MemoryIdempotencyStore()
    const claim = store.claim.bind(store)
    store.claim = (...args) => (isDown ? never(() => claim(...args)).then((a) => a) : claim(...args))
    const running = await startServer((builder) => builder.register(EchoService, echoService), {
      idempotencyStore: store,
      resilience: { requestTimeoutMs: 200 },
    })
    const client = new ForeignClient(EchoService, running.grpc)
    const call = async () => (await client.unary('Echo', {}, { ...ALICE, 'idempotency-key': 'k' })).code
    expect(await call()).to.equal(4)
    isDown = false
    for (const settle of settled) settle()
    await pause(10)
    expect(await call()).to.equal(0)
    client.close()
    await running.stop()
  })
})

describe('an open stream', () => {
  let running: RunningServer
  let finished: string[]
  /** Where the machine is busy a call can be over before its handler begins: then it is made again. */
  let isBegun: boolean
  let handle: (signal: AbortSignal) => AsyncIterable<{ text: string }>

  before(async () => {
    running = await startServer((builder) =>
      builder.register(EchoService, { ...echoService, count: (_request, { signal }) => handle(signal) }),
    )
  })
  beforeEach(() => {
    finished = []
    isBegun = false
    running.records.length = 0
  })
  after(() => running.stop())

  const handlers: Readonly<Record<string, (signal: AbortSignal) => AsyncIterable<{ text: string }>>> = {
    'heeds its signal': async function* (signal) {
      yield { text: '1' }
      if (!signal.aborted) await once(signal, 'abort')
      throw signal.reason
    },
    'ends when its signal aborts': async function* (signal) {
      yield { text: '1' }
      if (!signal.aborted) await once(signal, 'abort')
    },
    'ignores its signal': async function* () {
      yield { text: '1' }
      await new Promise<never>(() => {})
    },
    'says more for ever': async function* () {
      for (let n = 0; ; n++) {
        yield { text: String(n) }
        await pause(5)
      }
    },
  }

  const recorded = async () => {
    while (running.records.length === 0) await pause(2)
    return running.records.map(({ fields }) => fields['code'])
  }

  for (const [name, handler] of Object.entries(handlers)) {
    it(`whose handler ${name} ends with its status at its deadline, over gRPC`, async () => {
      handle = handler
      const raw = new RawGrpc(running.grpc)
      const { code, requestId } = await raw.call(
        'Count',
        { ...ALICE, 'grpc-timeout': '150m' },
        Buffer.alloc(5),
      )
      expect(code).to.equal(4)
      expect(requestId).to.be.a('string')
      expect(await recorded()).to.deep.equal(['DEADLINE_EXCEEDED'])
      raw.close()
    })

    it(`whose handler ${name} ends with its status at its deadline, over HTTP`, async () => {
      handle = handler
      const headers = { ...ALICE, 'grpc-timeout': '150m' }
      const response = await fetch(`${running.http}/v1/count?upto=9`, { headers })
      const lines = (await response.text()).trim().split('\n')
      // Where the machine is busy the time is over before the handler is called, and there is no stream.
      const last = JSON.parse(lines.at(-1) as string) as { readonly error?: object }
      const told = response.ok ? last.error : last
      expect(told).to.deep.equal({ code: 4, message: 'deadline exceeded', details: [] })
      expect(await recorded()).to.deep.equal(['DEADLINE_EXCEEDED'])
    })

    it(`whose handler ${name} is logged as cancelled when its reader goes away, over gRPC`, async () => {
      handle = handler
      const raw = new RawGrpc(running.grpc)
      const { stream } = raw.open('Count', ALICE)
      stream.end(Buffer.alloc(5))
      await once(stream, 'data')
      stream.close(8)
      expect(await recorded()).to.deep.equal(['CANCELLED'])
      raw.close()
    })

    it(`whose handler ${name} is logged as cancelled when its reader goes away, over HTTP`, async () => {
      handle = handler
      const gone = new AbortController()
      const response = await fetch(`${running.http}/v1/count?upto=9`, { headers: ALICE, signal: gone.signal })
      await response.body?.getReader().read()
      gone.abort()
      expect(await recorded()).to.deep.equal(['CANCELLED'])
    })
  }

  it('gives its handler up in the end', async () => {
    handle = async function* () {
      try {
        isBegun = true
        for (;;) yield await pause(5, { text: 'more' })
      } finally {
        finished.push('finally')
      }
    }
    const headers = { ...ALICE, 'grpc-timeout': '300m' }
    while (!isBegun) await (await fetch(`${running.http}/v1/count?upto=9`, { headers })).text()
    while (finished.length === 0) await pause(2)
  })

  it('that nobody reads lets its handler go at its deadline', async () => {
    handle = async function* () {
      try {
        isBegun = true
        for (;;) yield await Promise.resolve({ text: 'x'.repeat(100_000) })
      } finally {
        finished.push('finally')
      }
    }
    for (const listener of ['grpc', 'http']) {
      finished = []
      isBegun = false
      const headers = { ...ALICE, 'grpc-timeout': '300m' }
      const raw = new RawGrpc(running.grpc)
      while (!isBegun)
        if (listener === 'grpc') {
          const { stream } = raw.open('Count', headers)
          stream.end(Buffer.alloc(5))
          await once(stream, 'response')
          stream.pause()
        } else await fetch(`${running.http}/v1/count?upto=9`, { headers })
      while (finished.length === 0) await pause(5)
      expect(finished).to.deep.equal(['finally'])
      raw.close()
    }
  })

  it('whose client has its own deadline is logged as expired, and not as given up', async () => {
    handle = handlers['ignores its signal'] as typeof handle
    const client = new Client(running.grpc, credentials.createInsecure())
    const same = (bytes: Buffer) => bytes
    const metadata = GrpcMetadata.fromHttp2Headers({ ...ALICE })
    const path = '/specimens.v1.EchoService/Count'
    await new Promise((resolve) => client.waitForReady(Infinity, resolve))
    const options = { deadline: Date.now() + 400 }
    const call = client.makeServerStreamRequest(path, same, same, Buffer.alloc(0), metadata, options)
    call.on('error', () => {})
    call.resume()
    const status = new Promise<{ code: number }>((resolve) => call.on('status', resolve))
    expect((await status).code).to.equal(4)
    expect(await recorded()).to.deep.equal(['DEADLINE_EXCEEDED'])
    client.close()
  })

  it('whose response cannot be written is logged as what its reader was told', async () => {
    handle = async function* () {
      yield await Promise.resolve({ text: 'a' })
      yield { text: 'b', request: { number: 2n ** 70n } } as never
    }
    const raw = new RawGrpc(running.grpc)
    expect((await raw.call('Count', ALICE, Buffer.alloc(5))).code).to.equal(13)
    expect(await recorded()).to.deep.equal(['INTERNAL'])
    raw.close()
    running.records.length = 0
    expect(await (await fetch(`${running.http}/v1/count`, { headers: ALICE })).text()).to.match(/"code":13/)
    while (running.records.filter(({ message }) => message === 'rpc').length === 0) await pause(2)
    const calls = running.records.filter(({ message }) => message === 'rpc')
    expect(calls.map(({ fields }) => fields['code'])).to.deep.equal(['INTERNAL'])
  })
})
