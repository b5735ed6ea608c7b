import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { EventEmitter, once } from 'node:events'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { Metadata, type ServerCall } from '../../../lib/call.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { idempotency } from '../../../lib/server/interceptors/idempotency.js'
import type { Config } from '../../../lib/server/config/config.js'
import { supportsIfMatch } from '../../../lib/server/chain/handler.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { type EchoRequest, EchoRequestSchema, EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { drill } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const OTHER = { ...ALICE, 'account-id': 'other' }
const BOB = { ...ALICE, subject: 'bob' }

describe('idempotency', () => {
  let running: RunningServer
  let client: ForeignClient
  let runs = 0
  let handle: (request: EchoRequest, call: ServerCall) => Promise<{ text: string }>

  const start = async (config: Config = {}) => {
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: supportsIfMatch((request: EchoRequest, call: ServerCall) => {
            runs++
            return handle(request, call)
          }),
        }),
      config,
    )
    client = new ForeignClient(EchoService, running.grpc)
  }

  beforeEach(() => {
    runs = 0
    handle = async ({ text }, { headers, trailers }) => {
      headers.set('x-shelf', 'upper')
      trailers.set('x-weight', '7')
      return { text: `${text} ${runs}` }
    }
  })

  afterEach(async () => {
    client.close()
    await running.stop()
  })

  const echo = (key: string, request: object = { text: 'a' }, headers: object = ALICE): Promise<Outcome> =>
    client.unary('Echo', request, { ...headers, ...(key && { 'idempotency-key': key }) })

  /**
   * Calls again while the time of the call was over before anything else: it is short, and the machine may be
   * busy.
   */
  const beyond = async (...codes: readonly number[]): Promise<Outcome> => {
    for (;;) {
      const outcome = await echo('k')
      if (!codes.includes(outcome.code)) return outcome
    }
  }

  it('runs a call once and returns the same again, with a request id of its own', async () => {
    await start()
    const first = await echo('k')
    const again = await echo('k')
    expect(runs).to.equal(1)
    expect([first.answer?.['text'], again.answer?.['text']]).to.deep.equal(['a 1', 'a 1'])
    expect(first.headers.get('x-idempotent-replay')).to.deep.equal([])
    expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
    expect(again.headers.get('x-shelf')).to.deep.equal(['upper'])
    expect(again.trailers.get('x-weight')).to.deep.equal(['7'])
    expect(again.headers.get('x-request-id')).not.to.deep.equal(first.headers.get('x-request-id'))
  })

  it('returns the same over HTTP and gRPC', async () => {
    await start()
    await echo('k')
    const init = post({ ...ALICE, 'idempotency-key': 'k' }, { text: 'a' })
    const response = await fetch(`${running.http}/v1/echo`, init)
    expect(response.headers.get('x-idempotent-replay')).to.equal('true')
    expect(runs).to.equal(1)
  })

  const apart: readonly (readonly [string, () => Promise<Outcome>])[] = [
    ['without a key', () => echo('')],
    ['with another key', () => echo('l')],
    ['with the key in capitals', () => echo('K')],
    ['of another tenant', () => echo('k', undefined, OTHER)],
    ['of another subject', () => echo('k', undefined, BOB)],
  ]
  for (const [name, call] of apart)
    it(`runs a call ${name} on its own`, async () => {
      await start()
      await echo('k')
      expect((await call()).answer).to.include({ text: 'a 2' })
    })

  it('runs a call of nobody on its own', async () => {
    await start()
    const one = await client.unary('Ping', {}, { 'idempotency-key': 'k' })
    const two = await client.unary('Ping', {}, { 'idempotency-key': 'k' })
    expect([one, two].map(({ headers }) => headers.get('x-idempotent-replay'))).to.deep.equal([[], []])
  })

  const different: readonly (readonly [string, object, object])[] = [
    ['another value', { text: 'b' }, {}],
    ['a field more', { text: 'a', number: 1 }, {}],
    ['another precondition', { text: 'a' }, { 'if-match': '"x"' }],
  ]
  for (const [name, request, headers] of different)
    it(`refuses the key with ${name}`, async () => {
      await start()
      await echo('k')
      const { code, details } = await echo('k', request, { ...ALICE, ...headers })
      expect([code, details]).to.deep.equal([
        3,
        'request_id: was used for a different request before: send another request_id or Idempotency-Key',
      ])
      expect(runs).to.equal(1)
    })

  it('knows a request again whose map comes in another order', async () => {
    await start()
    const entries = ['a', 'b', 'c'].map((key) => ({ key, value: key }))
    await echo('k', { labels: entries })
    expect((await echo('k', { labels: entries.reverse() })).headers.get('x-idempotent-replay')).to.deep.equal(
      ['true'],
    )
    expect((await echo('k', { labels: entries.slice(1) })).code).to.equal(3)
  })

  const wrong: readonly (readonly [string, string, number])[] = [
    ['255 characters', 'x'.repeat(255), 0],
    ['256 characters', 'x'.repeat(256), 3],
    ['a tab', 'a\tb', 3],
  ]
  for (const [name, key, code] of wrong)
    it(`returns ${code} for a key of ${name}`, async () => {
      await start()
      const response = await fetch(`${running.http}/v1/echo`, post({ ...ALICE, 'idempotency-key': key }))
      expect(response.status).to.equal(code === 0 ? 200 : 400)
    })

  it('does not keep errors', async () => {
    await start()
    handle = async () => {
      if (runs === 1) throw new ErrNotFound()
      return { text: 'there now' }
    }
    expect((await echo('k')).code).to.equal(5)
    expect((await echo('k')).answer).to.include({ text: 'there now' })
  })

  it('checks who may call before it replays', async () => {
    let allowed = true
    await start({ authorizer: { authorize: () => allowed } })
    await echo('k')
    allowed = false
    expect((await echo('k')).code).to.equal(7)
  })

  it(`runs ${drill(50, 1000)} calls at the same time once, and returns the same to all`, async () => {
    await start()
    const gate = new EventEmitter()
    handle = async () => {
      await once(gate, 'open')
      return { text: `done ${runs}` }
    }
    const calls = Array.from({ length: drill(50, 1000) }, () => echo('k'))
    while (runs === 0) await new Promise(setImmediate)
    gate.emit('open')
    const texts = new Set((await Promise.all(calls)).map(({ answer }) => answer?.['text']))
    expect([runs, ...texts]).to.deep.equal([1, 'done 1'])
  })

  it('lets one of those that wait run when the first fails', async () => {
    await start()
    const gate = new EventEmitter()
    handle = async () => {
      if (runs > 1) return { text: `done ${runs}` }
      await once(gate, 'open')
      throw new ErrNotFound()
    }
    const calls = Array.from({ length: 10 }, () => echo('k'))
    while (runs === 0) await new Promise(setImmediate)
    gate.emit('open')
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter(({ code }) => code === 5)).to.have.length(1)
    expect(outcomes.filter(({ answer }) => answer?.['text'] === 'done 2')).to.have.length(9)
  })

  it('holds the key of a call that timed out until its handler has settled, and keeps what it did', async () => {
    await start({ resilience: { requestTimeoutMs: 30 } })
    const gate = new EventEmitter()
    handle = async () => {
      await once(gate, 'open')
      return { text: 'late' }
    }
    do expect((await echo('k')).code).to.equal(4)
    while (runs === 0)
    const waiting = await beyond(4)
    expect([waiting.code, waiting.details]).to.deep.equal([
      10,
      'another call with this request_id is still running: retry later',
    ])
    gate.emit('open')
    const retried = await beyond(4, 10)
    expect([retried.answer?.['text'], runs]).to.deep.equal(['late', 1])
  })

  it('frees the key of a call that timed out when its handler fails', async () => {
    await start({ resilience: { requestTimeoutMs: 30 } })
    handle = (_request, { signal }) =>
      runs > 1
        ? Promise.resolve({ text: 'second' })
        : once(signal, 'abort').then(() => Promise.reject(new ErrNotFound()))
    do expect((await echo('k')).code).to.equal(4)
    while (runs === 0)
    expect((await beyond(4)).answer).to.include({ text: 'second' })
  })

  it('waits for a claim of another process until its lease has lapsed', async () => {
    let now = Date.now()
    const store = new MemoryIdempotencyStore({ now: () => new Date(now) })
    await start({ idempotencyStore: store })
    await echo('k')
    const key = {
      tenant: 'acme',
      subject: 'alice',
      method: '/specimens.v1.EchoService/Echo',
      requestId: 'dead',
    }
    const { claim } = store
    let fingerprint = ''
    store.claim = async (wanted, print, leaseMs) => {
      if (fingerprint === '') await claim.call(store, key, (fingerprint = print), 1000)
      else now += 400
      return claim.call(store, wanted, print, leaseMs)
    }
    expect((await echo('dead')).answer).to.include({ text: 'a 2' })
  })
})

describe('a replayed create', () => {
  it('makes one resource, by request_id or Idempotency-Key, and refuses two that differ', async () => {
    const widgets = new MemoryRepository(Widget)
    const retire = { retireWidget: () => Promise.reject(new ErrNotFound()) }
    const running = await startServer((builder) => builder.register(WidgetService, widgets, retire))
    const create = async (name: string) => {
      const init = post({ ...ALICE, 'idempotency-key': 'k' }, { displayName: name })
      return (await fetch(`${running.http}/v1/widgets`, init)).json() as Promise<{ id: string }>
    }
    const [one, two] = [await create('a'), await create('a')]
    expect(one.id).to.match(/./).and.equal(two.id)
    expect((await create('b')) as object).to.include({ code: 3 })
    const list = await fetch(`${running.http}/v1/widgets`, { headers: { ...ALICE, 'idempotency-key': 'k' } })
    expect(((await list.json()) as { widgets: unknown[] }).widgets).to.have.length(1)
    expect(list.headers.get('x-idempotent-replay')).to.equal(null)
    await running.stop()
  })
})

describe('a reading method with an idempotency key', () => {
  it('runs each time, over both listeners', async () => {
    const widgets = new MemoryRepository(Widget)
    const running = await startServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
    )
    const client = new ForeignClient(WidgetService, running.grpc)
    const headers = { ...ALICE, 'idempotency-key': 'same' }
    try {
      await client.unary('CreateWidget', { widget: { display_name: 'first' }, widget_id: 'cog' }, ALICE)
      const rename = (name: string) =>
        client.unary(
          'UpdateWidget',
          { widget: { id: 'cog', display_name: name }, update_mask: ['display_name'] },
          ALICE,
        )
      const seen: unknown[] = []
      for (const name of ['second', 'third']) {
        const { details } = await rename(name)
        expect(details).to.equal('OK')
        const got = await client.unary('GetWidget', { id: 'cog' }, headers)
        expect(got.headers.get('x-idempotent-replay')).to.deep.equal([])
        const listed = await client.unary('ListWidgets', {}, headers)
        const response = await fetch(`${running.http}/v1/widgets/cog`, { headers })
        expect(response.headers.get('x-idempotent-replay')).to.equal(null)
        const { widgets: items } = listed.answer as {
          readonly widgets: readonly { readonly display_name: string }[]
        }
        seen.push(
          got.answer?.['display_name'],
          items[0]?.display_name,
          ((await response.json()) as { readonly displayName: string }).displayName,
        )
      }
      expect(seen).to.deep.equal(['second', 'second', 'second', 'third', 'third', 'third'])
    } finally {
      client.close()
      await running.stop()
    }
  })
})

describe('idempotency of a client stream', () => {
  it('rejects a request_id in a message', async () => {
    const method = { ...methodOf(EchoService.method.collect), requestId: ({ text }: EchoRequest) => text }
    const nothing = {} as never
    const interceptor = idempotency(nothing, nothing, nothing, { declared: () => undefined } as never)
    async function* sent() {
      yield await Promise.resolve(create(EchoRequestSchema))
      yield create(EchoRequestSchema, { text: 'r-1' })
    }
    const read: EchoRequest[] = []
    const handle = async ({ requests }: { requests: AsyncIterable<EchoRequest> }) => {
      for await (const request of requests) read.push(request)
    }
    const call = { method, metadata: new Metadata(), requests: sent() }
    const run = interceptor(handle as never, { method } as never)(call as never) as Promise<unknown>
    const { message } = await rejection(run, InvalidArgument)
    expect(message).to.match(/^request_id: Collect does not support idempotency keys/)
    expect(read).to.have.length(1)
  })
})
