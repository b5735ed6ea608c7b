import { expect } from 'chai'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { create } from '@bufbuild/protobuf'
import { Health } from '../../../lib/gen/grpc/health/v1/health_pb.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { ServerCall } from '../../../lib/call.js'
import { supportsIfMatch } from '../../../lib/server/chain/handler.js'
import { parseIfMatch } from '../../../lib/if-match.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService, SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

const [HOLDS, DIFFERS, INVALID] = ['holds', 'differs', 'is invalid'] as const

/** What a value of If-Match comes to, given the current etag. */
const rows: readonly (readonly [string, (etag: string) => string, string])[] = [
  ['the current etag', (etag) => `"${etag}"`, HOLDS],
  ['the current etag, bare', (etag) => etag, HOLDS],
  ['the current etag among others', (etag) => `"a", "${etag}"`, HOLDS],
  ['a star', () => '*', HOLDS],
  ['the current etag between empty elements', (etag) => `, ,"a",,  "${etag}" ,`, HOLDS],
  ['the current etag beside a weak one', (etag) => `W/"a", "${etag}"`, HOLDS],
  ['the current etag twice', (etag) => `"${etag}","${etag}"`, HOLDS],
  ['another etag', () => '"stale"', DIFFERS],
  ['other etags', () => '"a", "b"', DIFFERS],
  ['an empty value', () => '', DIFFERS],
  ['spaces', () => '  ', DIFFERS],
  ['a comma', () => ',', DIFFERS],
  ['empty elements', () => ' , ,, ', DIFFERS],
  ['an empty etag', () => '""', DIFFERS],
  ['the current etag, but weak', (etag) => `W/"${etag}"`, DIFFERS],
  ['the current etag, weak, among others', (etag) => `"a", W/"${etag}"`, DIFFERS],
  ['words', () => 'not an etag', INVALID],
  ['an open quote', (etag) => `"${etag}`, INVALID],
  ['no comma', (etag) => `"a" "${etag}"`, INVALID],
  ['a star among others', () => '*, "a"', INVALID],
  ['a lower-case weak etag', (etag) => `w/"${etag}"`, INVALID],
  ['a bare word in a list', (etag) => `"a", ${etag}`, INVALID],
]

const CODES = { [HOLDS]: 0, [DIFFERS]: 9, [INVALID]: 3 }
const STATUS = { [HOLDS]: 200, [DIFFERS]: 412, [INVALID]: 400 }

describeOn('If-Match served by a repository', backends, (backend) => {
  let served: Awaited<ReturnType<typeof serveSpecimens>>
  let client: ForeignClient

  before(async () => {
    served = await serveSpecimens(backend, () => ({}), { gateway: { connect: true } })
    client = served.client
  })

  after(() => served?.stop())

  let made = 0
  const id = () => `i${made++}`
  const createOne = async (key: string): Promise<string> => {
    const request = { specimen: { title: 'Marble', code: key }, specimen_id: key }
    const { answer, details } = await client.unary('CreateSpecimen', request, ALICE)
    expect(details).to.equal('OK')
    return answer?.['etag'] as string
  }
  const deleted = async (key: string): Promise<string> => {
    await createOne(key)
    await client.unary('DeleteSpecimen', { id: key }, ALICE)
    const { answer } = await client.unary('ListSpecimens', { show_deleted: true, page_size: 1000 }, ALICE)
    const all = answer?.['specimens'] as { id: string; etag: string }[]
    return all.find((one) => one.id === key)?.etag ?? ''
  }

  interface Way {
    readonly prepare: (key: string) => Promise<string>
    readonly request: (key: string) => object
    readonly http: (key: string, headers: object) => Promise<Response>
  }
  const at = (key: string) => `${served.http}/v1/specimens/${key}`
  const ways: Readonly<Record<string, Way>> = {
    GetSpecimen: {
      prepare: createOne,
      request: (key) => ({ id: key }),
      http: (key, headers) => fetch(at(key), { headers: { ...headers } }),
    },
    UpdateSpecimen: {
      prepare: createOne,
      request: (key) => ({ specimen: { id: key, title: 'Slate' }, update_mask: { paths: ['title'] } }),
      http: (key, headers) =>
        fetch(`${at(key)}?update_mask=title`, post(headers, { title: 'Slate' }, 'PATCH')),
    },
    DeleteSpecimen: {
      prepare: createOne,
      request: (key) => ({ id: key }),
      http: (key, headers) => fetch(at(key), { method: 'DELETE', headers: { ...headers } }),
    },
    UndeleteSpecimen: {
      prepare: deleted,
      request: (key) => ({ id: key }),
      http: (key, headers) => fetch(`${at(key)}:undelete`, post(headers)),
    },
  }

  for (const [method, { prepare, request, http }] of Object.entries(ways)) {
    it(`is compared by ${method} over gRPC`, async () => {
      for (const [name, value, what] of rows) {
        const key = id()
        const etag = await prepare(key)
        // HTTP/2 has no spaces at the ends of a value: Node drops such a header before anybody sees it.
        const headers = { ...ALICE, 'if-match': value(etag).trim() }
        const { code, details } = await client.unary(method, request(key), headers)
        expect([name, code], details).to.deep.equal([name, CODES[what as 'holds']])
      }
    })

    it(`is compared by ${method} over HTTP`, async () => {
      for (const [name, value, what] of rows) {
        const key = id()
        const etag = await prepare(key)
        const { status } = await http(key, { ...ALICE, 'if-match': value(etag) })
        expect([name, status]).to.deep.equal([name, STATUS[what as 'holds']])
      }
    })

    it(`is NotFound by ${method} of what is not there`, async () => {
      for (const value of ['"a"', '', '"a", "b"', '*']) {
        const { code } = await client.unary(method, request('nobody'), { ...ALICE, 'if-match': value })
        expect([value, code]).to.deep.equal([value, 5])
      }
    })
  }

  it('is refused by methods that have no entity to compare, or several', async () => {
    const key = id()
    const etag = await createOne(key)
    const items = [{ specimen: { id: key, title: 'Slate' }, update_mask: { paths: ['title'] } }]
    const url = `${served.http}/v1/specimens`
    const json = (headers: object, body: object) => post(headers, body)
    const calls: readonly (readonly [string, object, (headers: object) => Promise<Response>])[] = [
      ['ListSpecimens', {}, (headers) => fetch(url, { headers: { ...headers } })],
      ['CreateSpecimen', { specimen: { code: 'c' } }, (headers) => fetch(url, json(headers, { code: 'c' }))],
      [
        'BatchGetSpecimens',
        { ids: [key] },
        (headers) => fetch(`${url}:batchGet?ids=${key}`, { headers: { ...headers } }),
      ],
      [
        'BatchUpdateSpecimens',
        { requests: items },
        (headers) =>
          fetch(
            `${url}:batchUpdate`,
            json(headers, { requests: [{ specimen: { id: key, title: 'Slate' }, updateMask: 'title' }] }),
          ),
      ],
      [
        'BatchDeleteSpecimens',
        { ids: [key] },
        (headers) => fetch(`${url}:batchDelete`, json(headers, { ids: [key] })),
      ],
    ]
    for (const [method, request, http] of calls)
      for (const value of ['"stale"', `"${etag}"`, '*', '']) {
        const headers = { ...ALICE, 'if-match': value }
        const { code, details } = await client.unary(method, request, headers)
        expect([code, details]).to.deep.equal([
          3,
          `if-match: ${method} does not compare etags: call it without If-Match`,
        ])
        expect((await http(headers)).status).to.equal(400)
      }
    const { answer } = await client.unary('GetSpecimen', { id: key }, ALICE)
    expect(answer).to.include({ title: 'Marble', etag })
  })

  describe('in the resource of an item of a batch', () => {
    const items = (all: readonly (readonly [string, string])[], paths: readonly string[] = ['title']) => ({
      requests: all.map(([key, etag]) => ({
        specimen: { id: key, title: 'Slate', etag },
        update_mask: { paths },
      })),
    })
    const json = (all: readonly (readonly [string, string])[]) => ({
      requests: all.map(([key, etag]) => ({
        specimen: { id: key, title: 'Slate', etag },
        updateMask: 'title',
      })),
    })
    const posted = async (url: string, body: object) =>
      (await (await fetch(url, post(ALICE, body))).json()) as object
    const protocols: Readonly<
      Record<string, (all: readonly (readonly [string, string])[]) => Promise<object | undefined>>
    > = {
      gRPC: async (all) => (await client.unary('BatchUpdateSpecimens', items(all), ALICE)).answer,
      HTTP: (all) => posted(`${served.http}/v1/specimens:batchUpdate`, json(all)),
      Connect: (all) => posted(`${served.http}/${SpecimenService.typeName}/BatchUpdateSpecimens`, json(all)),
    }

    for (const [protocol, batchUpdate] of Object.entries(protocols))
      it(`is no precondition over ${protocol}, and every item gets an etag of its own`, async () => {
        const keys = OF_AN_ITEM.map(() => id())
        const etags = new Map<string, string>()
        for (const key of keys) etags.set(key, await createOne(key))
        const answer = await batchUpdate(
          keys.map((key, at) => [key, OF_AN_ITEM[at]?.(etags.get(key) as string) ?? ''] as const),
        )
        const updated = (answer as { specimens?: { id: string; title: string; etag: string }[] }).specimens
        expect(updated?.map(({ id: key, title }) => [key, title])).to.deep.equal(
          keys.map((key) => [key, 'Slate']),
        )
        const written = new Set(updated?.map(({ etag }) => etag))
        expect(written.size).to.equal(keys.length)
        for (const etag of etags.values()) expect(written.has(etag)).to.equal(false)
      })

    it('is written by no mask, and named by none', async () => {
      const key = id()
      await createOne(key)
      const { answer } = await client.unary('BatchUpdateSpecimens', items([[key, 'mine']], ['*']), ALICE)
      expect((answer?.['specimens'] as { etag: string }[])[0]?.etag).not.to.equal('mine')
      const { code } = await client.unary('BatchUpdateSpecimens', items([[key, 'mine']], ['etag']), ALICE)
      expect(code).to.equal(3)
    })

    it('does not reach a repository', async () => {
      const seen: unknown[] = []
      class Own extends MemoryRepository<Specimen> {
        override batchUpdate(...[batch, options]: Parameters<MemoryRepository<Specimen>['batchUpdate']>) {
          seen.push(...batch.map(({ key, ifMatch }) => [key, ifMatch]))
          return super.batchUpdate(batch, options)
        }
      }
      const own = new Own(Specimen, {
        minter: new CredentialMinter(),
        encryptor: newDev(Buffer.alloc(32, 7)),
      })
      const server = await startServer((builder) =>
        builder.register(SpecimenService, own, { weighSpecimen: () => create(SpecimenSchema) }),
      )
      const caller = new ForeignClient(SpecimenService, server.grpc)
      await caller.unary(
        'CreateSpecimen',
        { specimen: { title: 'Marble', code: 'o' }, specimen_id: 'o' },
        ALICE,
      )
      const { code } = await caller.unary('BatchUpdateSpecimens', items([['o', 'stale']]), ALICE)
      expect([code, seen]).to.deep.equal([0, [['o', undefined]]])
      caller.close()
      await server.stop()
    })
  })
})

/** What a client may have in the etag of an item. */
const OF_AN_ITEM: readonly ((etag: string) => string)[] = [
  (etag) => etag,
  () => 'stale',
  () => '',
  (etag) => `W/"${etag}"`,
  () => 'a b',
  (etag) => `"${etag}", "b"`,
  () => '"open',
]

describe('If-Match served by an implementation', () => {
  let running: RunningServer
  let ran: number
  const seen: unknown[] = []

  before(async () => {
    const run = (value: object) => () => {
      ran++
      return value
    }
    running = await startServer((builder) =>
      builder
        .register(EchoService, {
          ...echoService,
          echo: run({}) as never,
          count: async function* () {
            ran++
            yield await Promise.resolve({})
          },
          collect: run({}) as never,
          download: supportsIfMatch((_request: unknown, { ifMatch }: ServerCall) => {
            seen.push(ifMatch)
            return {}
          }) as never,
        })
        .register(
          SpecimenService,
          partly(SpecimenService, { updateSpecimen: run({}), deleteSpecimen: run({}) }),
        ),
    )
  })
  beforeEach(() => (ran = 0))
  after(() => running.stop())

  it('is refused by a handler that does not say that it compares, which is not run', async () => {
    const headers = { ...ALICE, 'if-match': '"stale"' }
    const echo = new ForeignClient(EchoService, running.grpc)
    const specimens = new ForeignClient(SpecimenService, running.grpc)
    const health = new ForeignClient(Health, running.grpc)
    const update = { specimen: { id: '1' }, update_mask: { paths: ['title'] } }
    const outcomes = [
      await echo.unary('Echo', {}, headers),
      await echo.unary('Echo', {}, { ...ALICE, 'if-match': '' }),
      await echo.unary('Echo', {}, { ...ALICE, 'if-match': '*' }),
      await echo.stream('Count', [{}], headers),
      await echo.stream('Collect', [{}], headers),
      await specimens.unary('UpdateSpecimen', update, headers),
      await specimens.unary('DeleteSpecimen', { id: '1' }, headers),
      await health.unary('Check', {}, headers),
    ]
    expect(outcomes.map(({ code }) => code)).to.deep.equal(Array(outcomes.length).fill(3))
    const { http } = running
    const statuses = [
      await fetch(`${http}/v1/echo`, post(headers)),
      await fetch(`${http}/v1/count`, { headers }),
      await fetch(`${http}/v1/specimens/1?update_mask=title`, post(headers, {}, 'PATCH')),
      await fetch(`${http}/v1/specimens/1`, { method: 'DELETE', headers }),
    ].map(({ status }) => status)
    expect([...statuses, ran]).to.deep.equal([400, 400, 400, 400, 0])
    for (const client of [echo, specimens, health]) client.close()
  })

  it('reaches one that does', async () => {
    const headers = { ...ALICE, 'if-match': '"a", W/"b", , "c"' }
    expect((await fetch(`${running.http}/v1/download`, { headers })).status).to.equal(200)
    expect(seen).to.deep.equal([{ any: false, etags: ['a', 'c'] }])
  })

  it('tells nothing to a caller who may not call', async () => {
    const echo = new ForeignClient(EchoService, running.grpc)
    expect((await echo.unary('Echo', {}, { 'if-match': '"stale"' })).code).to.equal(7)
    echo.close()
  })
})

describe('parseIfMatch', () => {
  it('refuses long values that were made to be slow', () => {
    // Minutes, if the time grew with the square of their length.
    const hostile = [`"a"${' '.repeat(500_000)}x`, `${',\t'.repeat(250_000)}x`, `${'W/"'.repeat(200_000)}`]
    for (const text of hostile)
      expect(() => parseIfMatch(text, 'if-match')).to.throw('is not a list of quoted etags')
  })
})
