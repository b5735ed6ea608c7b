import { create, type DescMethod, type DescService, type MessageInitShape } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { authorizeEntity, type Decision } from '../../lib/server/authz/decision.js'
import { wireCall } from '../support/connect/wire-client.js'
import { type CountRequestSchema, EchoResponseSchema, EchoService } from '../support/gen/specimens_pb.js'
import { altered } from '../support/grpc/altered.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../support/servers/server.js'

const MAX_ELEMENTS = 100
const MAX_RESPONSE_BYTES = 10_000

/** A call over one of the listeners: the code of its error, or `OK`, and how many responses came before. */
type Send = (method: DescMethod, request: object) => Promise<readonly [code: string, responses: number]>

const HTTP_CODES: Readonly<Record<number, string>> = { 3: 'INVALID_ARGUMENT', 8: 'RESOURCE_EXHAUSTED' }

describe('limits of one message', () => {
  let running: RunningServer
  let foreign: ForeignClient
  let widgets: ForeignClient
  const stored = new MemoryRepository(Widget)

  before(async () => {
    running = await startServer(
      (builder) =>
        builder
          .limits({
            maxElements: MAX_ELEMENTS,
            maxResponseBytes: MAX_RESPONSE_BYTES,
            maxPageBytes: 5_000,
          })
          .register(WidgetService, stored, { retireWidget: () => Promise.reject(new Error('not called')) })
          .register(
            EchoService,
            partly(EchoService, {
              echo: ({ number }: { readonly number: bigint }) =>
                Promise.resolve(create(EchoResponseSchema, { text: 'x'.repeat(Number(number)) })),
              async *count({ upto }: MessageInitShape<typeof CountRequestSchema>) {
                yield create(EchoResponseSchema, { text: 'small' })
                yield create(EchoResponseSchema, { text: 'x'.repeat(upto ?? 0) })
              },
              collect: async (requests: AsyncIterable<unknown>) => {
                let count = 0
                for await (const _ of requests) count++
                return create(EchoResponseSchema, { text: String(count) })
              },
            }),
          ),
      { gateway: { connect: true } },
    )
    foreign = new ForeignClient(EchoService, running.grpc)
    widgets = new ForeignClient(WidgetService, running.grpc)
    for (const id of ['a', 'b', 'c', 'd'])
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
        stored.create({ id, displayName: id, description: 'é'.repeat(1_000) }),
      )
  })

  after(async () => {
    foreign.close()
    widgets.close()
    await running.stop()
  })

  const overGrpc: Send = async (method, request) => {
    if (method.methodKind === 'unary') {
      // To proto-loader a map in a descriptor is a list of entries.
      const { labels = {} } = request as { readonly labels?: object }
      const entries = Object.entries(labels).map(([key, value]) => ({ key, value: value as string }))
      const { code } = await foreign.unary(method.name, { ...request, labels: entries }, ALICE)
      return [code === 0 ? 'OK' : (HTTP_CODES[code] ?? String(code)), code === 0 ? 1 : 0]
    }
    const { code, answers } = await foreign.stream(method.name, [request], ALICE)
    return [code === 0 ? 'OK' : (HTTP_CODES[code] ?? String(code)), answers.length]
  }
  const overHttp: Send = async (method, request) => {
    const isStream = method.methodKind === 'server_streaming'
    const { upto } = request as { readonly upto?: number }
    const response = isStream
      ? await fetch(`${running.http}/v1/count?upto=${upto}`, { headers: ALICE })
      : await fetch(`${running.http}/v1/echo`, post(ALICE, request))
    const lines = (await response.text()).trim().split('\n')
    const errors = lines.flatMap((line) => {
      const { error, code } = JSON.parse(line) as { error?: { code: number }; code?: number }
      return error?.code ?? code ?? []
    })
    const [code] = errors
    return [code === undefined ? 'OK' : (HTTP_CODES[code] ?? String(code)), lines.length - errors.length]
  }
  const overConnect =
    (codec: 'proto' | 'json', protocol: 'connect' | 'grpc-web' = 'connect'): Send =>
    async (method, request) => {
      const wire = { protocol, codec, compression: 'identity' } as const
      const { code, messages } = await wireCall(running.http, wire, method, request, { headers: ALICE })
      return [code.toUpperCase(), messages.length]
    }

  const LISTENERS: Readonly<Record<string, Send>> = {
    gRPC: overGrpc,
    'HTTP/JSON': overHttp,
    'Connect with JSON': overConnect('json'),
    'Connect in binary': overConnect('proto'),
    'gRPC-Web': overConnect('proto', 'grpc-web'),
  }
  const { echo, count } = EchoService.method

  const labels = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, '']))
  const REQUESTS: Readonly<Record<string, (size: number) => object>> = {
    'strings in a list': (size) => ({ words: Array.from({ length: size }, () => '') }),
    'entries of a map': (size) => ({ labels: labels(size) }),
    'strings and entries together': (size) => ({
      words: Array.from({ length: size - 10 }, () => ''),
      labels: labels(10),
    }),
  }

  for (const [listener, send] of Object.entries(LISTENERS))
    describe(`over ${listener}`, () => {
      for (const [name, request] of Object.entries(REQUESTS)) {
        it(`accepts as many ${name} as limits.maxElements`, async () => {
          expect(await send(echo, request(MAX_ELEMENTS))).to.deep.equal(['OK', 1])
        })

        it(`rejects more ${name} than limits.maxElements`, async () => {
          expect(await send(echo, request(MAX_ELEMENTS + 1))).to.deep.equal(['RESOURCE_EXHAUSTED', 0])
        })
      }

      it('sends a response of at most limits.maxResponseBytes', async () => {
        expect(await send(echo, { number: String(MAX_RESPONSE_BYTES - 100) })).to.deep.equal(['OK', 1])
        expect(await send(echo, { number: String(MAX_RESPONSE_BYTES) })).to.deep.equal([
          'RESOURCE_EXHAUSTED',
          0,
        ])
      })

      it('ends a stream at a message of more than limits.maxResponseBytes', async () => {
        expect(await send(count, { upto: MAX_RESPONSE_BYTES - 100 })).to.deep.equal(['OK', 2])
        expect(await send(count, { upto: MAX_RESPONSE_BYTES })).to.deep.equal(['RESOURCE_EXHAUSTED', 1])
      })
    })

  it('counts the elements of each message of a stream by itself', async () => {
    const words = (size: number) => ({ words: Array.from({ length: size }, () => 'a') })
    const all = await foreign.stream('Collect', [words(MAX_ELEMENTS), words(MAX_ELEMENTS)], ALICE)
    expect(all).to.deep.include({ code: 0 }).and.to.have.nested.property('answer.text', '2')
    const more = await foreign.stream('Collect', [words(1), words(MAX_ELEMENTS + 1)], ALICE)
    expect(more.code).to.equal(8)
  })

  it('names the limit', async () => {
    const response = await fetch(`${running.http}/v1/echo`, post(ALICE, REQUESTS['entries of a map']?.(101)))
    expect(await response.text()).to.include('limits.maxElements')
    const large = await fetch(`${running.http}/v1/echo`, post(ALICE, { number: '20000' }))
    expect([large.status, await large.text()]).to.satisfy(
      ([status, text]: [number, string]) => status === 429 && text.includes('limits.maxResponseBytes'),
    )
  })

  it('ends a page of a List by bytes, over every protocol and with every read mask', async () => {
    const walk = async (query: string) => {
      const pages: number[] = []
      let pageToken = ''
      do {
        const response = await fetch(`${running.http}/v1/widgets?page_token=${pageToken}${query}`, {
          headers: ALICE,
        })
        const page = (await response.json()) as { widgets: object[]; nextPageToken: string }
        pages.push(page.widgets.length)
        pageToken = page.nextPageToken
      } while (pageToken !== '')
      return pages
    }
    const pages = await walk('')
    expect(pages.length).to.be.greaterThan(1)
    expect(await walk('&read_mask=id')).to.deep.equal(pages)
    const { answer } = await widgets.unary('ListWidgets', {}, ALICE)
    expect(answer?.['widgets']).to.have.length(pages[0] as number)
  })

  it('ends a page of a List by the elements of its rows, over gRPC and HTTP', async () => {
    const tags = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, '']))
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      for (const id of ['t1', 't2', 't3', 't4', 't5', 't6'])
        await stored.create({ id, displayName: 'tagged', tags })
    })
    const filter = 'display_name = "tagged"'
    const { answer } = await widgets.unary('ListWidgets', { filter }, ALICE)
    expect(answer?.['widgets']).to.have.length(2)
    const url = `${running.http}/v1/widgets?filter=${encodeURIComponent(filter)}`
    const page = (await (await fetch(url, { headers: ALICE })).json()) as { widgets: object[] }
    expect(page.widgets).to.have.length(2)
    expect((await fetch(`${running.http}/v1/widgets/t1`, { headers: ALICE })).status).to.equal(200)
  })

  it('rejects a BatchGet of more than limits.maxResponseBytes', async () => {
    const ids = Array.from({ length: 4 }, (_, i) => 'abcd'[i] as string)
    const { code, details } = await widgets.unary('BatchGetWidgets', { ids: [...ids, ...ids] }, ALICE)
    expect(code).to.equal(8)
    expect(details).to.include('limits.maxResponseBytes')
    expect((await widgets.unary('BatchGetWidgets', { ids: ['a', 'b'] }, ALICE)).code).to.equal(0)
  })

  it('rejects a BatchGet that repeats a row beyond limits.maxResponseBytes, in little time', async () => {
    await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
      stored.create({ id: 'large', displayName: 'large', description: 'x'.repeat(10_000_000) }),
    )
    const ids = Array.from({ length: MAX_ELEMENTS }, () => 'large')
    const { user } = process.cpuUsage()
    const { code, details } = await widgets.unary('BatchGetWidgets', { ids }, ALICE)
    expect([code, details]).to.satisfy(
      ([is, text]: [number, string]) => is === 8 && text.includes('limits.maxResponseBytes'),
    )
    // To write all of them takes seconds.
    expect(process.cpuUsage().user - user).to.be.lessThan(1_000_000)
    const query = ids.map((id) => `ids=${id}`).join('&')
    expect((await fetch(`${running.http}/v1/widgets:batchGet?${query}`, { headers: ALICE })).status).to.equal(
      429,
    )
  })
})

/** Widgets on shelves: the path binds `display_name`, which a widget has too. */
const ShelvedWidgets = altered(WidgetService, (proto) => {
  proto.addField('BatchDeleteWidgetsRequest', 'display_name')
  proto.bindPath('BatchDeleteWidgets', {
    pattern: { case: 'post', value: '/v1/shelves/{display_name}/widgets:batchDelete' },
    body: '*',
  })
})

describe('rows that a batch reads before it writes', () => {
  const ids = ['a', 'b', 'c']
  const calls: readonly (readonly [string, DescService, Decision, object])[] = [
    ['a field that its path binds', ShelvedWidgets, true, { ids, display_name: 'shelf' }],
    ['an authorizer that tests each row', WidgetService, authorizeEntity(() => true), { ids }],
  ]
  for (const [what, service, decision, request] of calls)
    it(`are at most limits.maxResponseBytes for ${what}`, async () => {
      const stored = new MemoryRepository(Widget)
      const running = await startServer(
        (builder) =>
          builder.limits({ maxResponseBytes: 5_000 }).register(service as typeof WidgetService, stored, {
            retireWidget: () => Promise.reject(new Error()),
          }),
        { httpAddr: '', authorizer: { decidesByRow: true, authorize: () => decision } },
      )
      const client = new ForeignClient(service, running.grpc)
      const asAda = <R>(fn: () => Promise<R>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)
      try {
        for (const id of ids)
          await asAda(() => stored.create({ id, displayName: 'shelf', description: 'x'.repeat(2_000) }))
        const { code, details } = await client.unary('BatchDeleteWidgets', request, ALICE)
        expect(code).to.equal(8)
        expect(details).to.include('limits.maxResponseBytes')
        expect(await asAda(() => stored.count())).to.equal(3)
      } finally {
        client.close()
        await running.stop()
      }
    })
})
