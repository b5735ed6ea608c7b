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
    served = await serveSpecimens(backend)
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
          `if-match: ${method} compares no etags: call it without If-Match`,
        ])
        expect((await http(headers)).status).to.equal(400)
      }
    const { answer } = await client.unary('GetSpecimen', { id: key }, ALICE)
    expect(answer).to.include({ title: 'Marble', etag })
  })

  describe('of an item of a batch', () => {
    const items = (all: readonly (readonly [string, string])[], paths = ['title']) => ({
      requests: all.map(([key, etag]) => ({
        specimen: { id: key, title: 'Slate', etag },
        update_mask: { paths },
      })),
    })
    const titles = async (keys: readonly string[]) => {
      const { answer } = await client.unary('BatchGetSpecimens', { ids: keys }, ALICE)
      return (answer?.['specimens'] as { title: string }[]).map(({ title }) => title)
    }

    it('is the etag of its resource, compared for all or nothing', async () => {
      const [b, a] = [id(), id()]
      const [etagB, etagA] = [await createOne(b), await createOne(a)]
      const stale = items([
        [b, etagB],
        [a, 'stale'],
      ])
      for (const call of [
        async () => (await client.unary('BatchUpdateSpecimens', stale, ALICE)).code,
        async () => {
          const requests = [
            { specimen: { id: b, title: 'Slate' }, updateMask: 'title' },
            { specimen: { id: a, title: 'Slate', etag: 'stale' }, updateMask: 'title' },
          ]
          const response = await fetch(`${served.http}/v1/specimens:batchUpdate`, post(ALICE, { requests }))
          return response.status === 412 ? 9 : response.status
        },
      ]) {
        expect(await call()).to.equal(9)
        expect(await titles([a, b])).to.deep.equal(['Marble', 'Marble'])
      }
      const current = items([
        [b, etagB],
        [a, etagA],
      ])
      const { code, answer, details } = await client.unary('BatchUpdateSpecimens', current, ALICE)
      expect(code, details).to.equal(0)
      const updated = answer?.['specimens'] as { id: string; title: string; etag: string }[]
      expect(updated.map(({ id: key, title }) => [key, title])).to.deep.equal([
        [b, 'Slate'],
        [a, 'Slate'],
      ])
      expect(updated[0]?.etag).not.to.equal(etagB)
    })

    it('does not lead around what a repository does of its own in a batch', async () => {
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
      const { answer } = await caller.unary(
        'CreateSpecimen',
        { specimen: { title: 'Marble', code: 'o' }, specimen_id: 'o' },
        ALICE,
      )
      const etag = answer?.['etag'] as string
      const { code } = await caller.unary('BatchUpdateSpecimens', items([['o', etag]]), ALICE)
      expect([code, seen]).to.deep.equal([0, [['o', etag]]])
      caller.close()
      await server.stop()
    })

    it('lets a batch be refused as without it', async () => {
      const key = id()
      const etag = await createOne(key)
      const refusals: readonly (readonly [string, object, number])[] = [
        [
          'twice the same key',
          items([
            [key, etag],
            [key, etag],
          ]),
          3,
        ],
        [
          'a missing key',
          items([
            [key, etag],
            ['nobody', 'x'],
          ]),
          5,
        ],
        ['an unknown path', items([[key, etag]], ['nothing']), 3],
        ['a weak etag', items([[key, `W/"${etag}"`]]), 9],
        ['an etag that is none', items([[key, 'a b']]), 3],
        ['several etags', items([[key, `"${etag}", "b"`]]), 3],
      ]
      for (const [name, request, expected] of refusals) {
        const { code } = await client.unary('BatchUpdateSpecimens', request, ALICE)
        expect([name, code]).to.deep.equal([name, expected])
      }
      expect(await titles([key])).to.deep.equal(['Marble'])
    })
  })
})

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
