import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import { prune, readMaskOf } from '../../../lib/gateway/transcoding/prune-response.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { DevAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { toPrincipal } from '../../../lib/server/authn/claims.js'
import { readTree } from '../../../lib/server/methods/read-tree.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { EchoResponseSchema, SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { root } from '../../support/root.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { isLinear, visitsOf } from '../../support/entities/visits.js'

/** What a list of that length comes to; undefined where the listener has no such list. */
interface Row {
  readonly name: string
  readonly bound: number
  readonly grpc?: (length: number) => Promise<Outcome>
  readonly http?: (length: number) => Promise<Response>
  /** gRPC code and HTTP status of a list that is as long as it may be. */
  readonly within: readonly [code: number, status: number]
  /** What is said of one more. */
  readonly refusal: RegExp
}

const many = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index))
const names = (length: number): string[] => many(length, () => 'size')
const tags = (length: number) => Object.fromEntries(many(length, (index) => [`k${index}`, 'v']))
const entriesOf = (map: Record<string, string>) => Object.entries(map).map(([key, value]) => ({ key, value }))
const quoted = (length: number): string => many(length, (index) => `"e${index}"`).join(', ')

/** A token that is well-formed, of another list, and of at least that many characters. */
const foreignToken = (length: number): string => {
  const bytes = Math.ceil((length * 3) / 4)
  const empty = JSON.stringify([[''], 'sum']).length
  return Buffer.from(JSON.stringify([['v'.repeat(bytes - empty)], 'sum'])).toString('base64url')
}

describe('what a caller may repeat', () => {
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    const widgets = new MemoryRepository(Widget)
    await RequestContext.as({ tenant: 'acme' }, () => widgets.create({ id: 'w', size: 1 }))
    running = await startServer(
      (builder) => builder.register(WidgetService, widgets, { retireWidget: ({ id }) => ({ id }) }),
      // Far over the default, so that the bounds in question are met before that of the headers.
      { limits: { maxHeaderBytes: 1024 * 1024 } },
    )
    client = new ForeignClient(WidgetService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })

  const unary = (method: string, request: object, headers: object = {}) =>
    client.unary(method, request, { ...ALICE, ...headers })
  const send = (path: string, init: RequestInit = { headers: ALICE }) =>
    fetch(`${running.http}/v1/widgets${path}`, init)
  const get = (path: string, headers: object = {}) => send(path, { headers: { ...ALICE, ...headers } })

  const rows: readonly Row[] = [
    {
      name: 'paths of read_mask',
      bound: 1000,
      grpc: (n) => unary('GetWidget', { id: 'w', read_mask: { paths: names(n) } }),
      http: (n) => get(`/w?read_mask=${names(n).join(',')}`),
      within: [0, 200],
      refusal: /^read_mask: has 1001 paths: name at most 1000$/,
    },
    {
      name: 'paths of read_mask, in parameters of their own',
      bound: 1000,
      http: (n) =>
        get(
          `/w?${names(n)
            .map((name) => `read_mask=${name}`)
            .join('&')}`,
        ),
      within: [0, 200],
      refusal: /^read_mask: has 1001 paths/,
    },
    {
      name: 'paths of read_mask, of a list',
      bound: 1000,
      grpc: (n) => unary('ListWidgets', { read_mask: { paths: names(n) } }),
      http: (n) => get(`?read_mask=${names(n).join(',')}`),
      within: [0, 200],
      refusal: /^read_mask: has 1001 paths/,
    },
    {
      name: 'characters of a path of read_mask',
      bound: 4096,
      grpc: (n) => unary('GetWidget', { id: 'w', read_mask: { paths: [`tags.${'k'.repeat(n - 5)}`] } }),
      http: (n) => get(`/w?read_mask=tags.${'k'.repeat(n - 5)}`),
      within: [0, 200],
      refusal: /^read_mask: has a path of 4097 characters: use at most 4096$/,
    },
    {
      name: 'paths of update_mask',
      bound: 1000,
      grpc: (n) => unary('UpdateWidget', { widget: { id: 'w' }, update_mask: names(n) }),
      http: (n) =>
        send(
          `/w?${names(n)
            .map((name) => `update_mask=${name}`)
            .join('&')}`,
          post(ALICE, {}, 'PATCH'),
        ),
      within: [0, 200],
      refusal: /^update_mask: has 1001 paths: name at most 1000$/,
    },
    {
      name: 'characters of a path of update_mask',
      bound: 4096,
      grpc: (n) => unary('UpdateWidget', { widget: { id: 'w' }, update_mask: ['k'.repeat(n)] }),
      http: (n) => send(`/w?update_mask=${'k'.repeat(n)}`, post(ALICE, {}, 'PATCH')),
      within: [3, 400], // there is no such field either
      refusal: /^update_mask: has a path of 4097 characters: use at most 4096$/,
    },
    {
      name: 'paths of update_mask, of an item of a batch',
      bound: 1000,
      grpc: (n) =>
        unary('BatchUpdateWidgets', { requests: [{ widget: { id: 'w' }, update_mask: names(n) }] }),
      http: (n) =>
        send(':batchUpdate', post(ALICE, { requests: [{ widget: { id: 'w' }, updateMask: names(n) }] })),
      within: [0, 200],
      refusal: /^update_mask: has 1001 paths/,
    },
    {
      name: 'ids of a batch to get',
      bound: 1000,
      grpc: (n) => unary('BatchGetWidgets', { ids: many(n, () => 'w') }),
      http: (n) => get(`:batchGet?${many(n, () => 'ids=w').join('&')}`),
      within: [0, 200],
      refusal: /^ids: has more than 1000 entries: a batch holds at most 1000$/,
    },
    {
      name: 'ids of a batch to delete',
      bound: 1000,
      grpc: (n) => unary('BatchDeleteWidgets', { ids: many(n, String) }),
      http: (n) => send(':batchDelete', post(ALICE, { ids: many(n, String) })),
      within: [5, 404],
      refusal: /^ids: has more than 1000 entries: a batch holds at most 1000$/,
    },
    {
      name: 'requests of a batch',
      bound: 1000,
      grpc: (n) =>
        unary('BatchUpdateWidgets', {
          requests: many(n, (id) => ({ widget: { id: String(id) }, update_mask: ['size'] })),
        }),
      http: (n) =>
        send(
          ':batchUpdate',
          post(ALICE, { requests: many(n, (id) => ({ widget: { id: String(id) }, updateMask: ['size'] })) }),
        ),
      within: [5, 404],
      refusal: /^requests: has more than 1000 entries: a batch holds at most 1000$/,
    },
    {
      name: 'groups',
      bound: 1000,
      grpc: (n) => unary('GetWidget', { id: 'w' }, { groups: many(n, String).join(',') }),
      http: (n) => get('/w', { groups: many(n, String).join(', ') }),
      within: [0, 200],
      refusal: /^groups: has 1001 entries: name at most 1000$/,
    },
    {
      name: 'etags of If-Match',
      bound: 100,
      grpc: (n) => unary('DeleteWidget', { id: 'w' }, { 'if-match': quoted(n) }),
      http: (n) => send('/w', { method: 'DELETE', headers: { ...ALICE, 'if-match': quoted(n) } }),
      within: [9, 412],
      refusal: /^if-match: has 101 etags: name at most 100$/,
    },
    {
      name: 'etags of the field etag',
      bound: 100,
      grpc: (n) => unary('DeleteWidget', { id: 'w', etag: quoted(n) }),
      http: (n) => send(`/w?etag=${encodeURIComponent(quoted(n))}`, { method: 'DELETE', headers: ALICE }),
      within: [9, 412],
      refusal: /^etag: has 101 etags: name at most 100$/,
    },
    {
      name: 'etags of If-None-Match',
      bound: 100,
      http: (n) => get('/w', { 'if-none-match': quoted(n) }),
      within: [0, 200],
      refusal: /^If-None-Match has 101 etags: name at most 100$/,
    },
    {
      name: 'tags',
      bound: 256,
      grpc: (n) => unary('CreateWidget', { widget: { tags: entriesOf(tags(n)) } }),
      http: (n) => send('', post(ALICE, { tags: tags(n) })),
      within: [0, 200],
      refusal: /^tags: has 257 entries: use at most 256$/,
    },
    {
      name: 'characters of filter',
      bound: 4096,
      grpc: (n) => unary('ListWidgets', { filter: 'size = 1'.padEnd(n) }),
      http: (n) => get(`?filter=${'size = 1'.padEnd(n).replaceAll(' ', '+')}`),
      within: [0, 200],
      refusal: /^filter: longer than 4096 characters/,
    },
    {
      name: 'comparisons of filter',
      bound: 128,
      grpc: (n) => unary('ListWidgets', { filter: many(n, () => 'size = 1').join(' OR ') }),
      http: (n) => get(`?filter=${many(n, () => 'size=1').join('+OR+')}`),
      within: [0, 200],
      refusal: /^filter: more than 128 comparisons/,
    },
    {
      name: 'characters of order_by',
      bound: 4096,
      grpc: (n) => unary('ListWidgets', { order_by: 'size'.padEnd(n) }),
      http: (n) => get(`?order_by=${'size'.padEnd(n).replaceAll(' ', '+')}`),
      within: [0, 200],
      refusal: /^order_by: longer than 4096 characters/,
    },
    {
      name: 'characters of page_token',
      bound: 65_536,
      grpc: (n) => unary('ListWidgets', { page_token: foreignToken(n) }),
      http: (n) => get(`?page_token=${foreignToken(n)}`),
      within: [3, 400], // it belongs to another list
      refusal: /^page_token: is malformed/,
    },
    {
      name: 'characters of an idempotency key',
      bound: 255,
      grpc: (n) => unary('BatchDeleteWidgets', {}, { 'idempotency-key': 'k'.repeat(n) }),
      http: (n) => send(':batchDelete', post({ ...ALICE, 'idempotency-key': 'k'.repeat(n) })),
      within: [0, 200],
      refusal: /^request_id: must be 1 to 255 characters/,
    },
    {
      name: 'parameters of a query',
      bound: 2000,
      http: (n) => get(`?${many(n, () => 'page_size=1').join('&')}`),
      within: [0, 400], // page_size is given more than once
      refusal: /^the query has 2001 parameters: use at most 2000$/,
    },
  ]

  for (const { name, bound, grpc, http, within, refusal } of rows) {
    if (grpc !== undefined)
      it(`is at most ${bound} ${name} over gRPC`, async () => {
        expect((await grpc(bound)).code).to.equal(within[0])
        const { code, details } = await grpc(bound + 1)
        expect(code).to.equal(3)
        expect(details).to.match(refusal)
      })
    if (http !== undefined)
      it(`is at most ${bound} ${name} over HTTP`, async () => {
        expect((await http(bound)).status).to.equal(within[1])
        const response = await http(bound + 1)
        expect(response.status).to.equal(400)
        expect(((await response.json()) as { message: string }).message).to.match(refusal)
      })
  }

  it('is at most 128 headers over gRPC, counting its own', async () => {
    const headers = (count: number) => Object.fromEntries(many(count, (n) => [`x-${n}`, '1']))
    expect((await unary('GetWidget', { id: 'w' }, headers(100))).code).to.equal(0)
    expect((await unary('GetWidget', { id: 'w' }, headers(1000))).code).to.equal(8)
    expect((await unary('GetWidget', { id: 'w' })).code).to.equal(0)
  })

  it('is listed in SECURITY.md, each with its bound and a test', () => {
    const text = readFileSync(join(root, 'SECURITY.md'), 'utf8')
    const section = /## Bounds on what a caller may repeat\n(.*?)(?=\n## |$)/s.exec(text)?.[1] ?? ''
    const table = [...section.matchAll(/^\| (.*?) +\| (.*?) +\| `(.*?)`(?:: (.*?))? +\|$/gm)]
    const own = table.filter(([, , , file]) => file === 'test/server/config/bounds.test.ts')
    const listed = own.filter(([, , , , title]) => title === undefined)
    expect(listed.map(([, name, bound]) => `${name}: ${bound}`)).to.deep.equal(
      rows.map(({ name, bound }) => `${name}: ${bound.toLocaleString('en')}`),
    )
    for (const [, name, , file = '', title] of table) {
      if (title === undefined) continue
      expect(readFileSync(join(root, file), 'utf8'), `${name}: ${file}`).to.include(title)
    }
    expect(table.length).to.be.at.least(rows.length + 15)
  })

  for (const claim of ['groups', 'scopes'] as const)
    it(`is at most 1000 ${claim} of a token`, () => {
      const words = (length: number) => toPrincipal({ sub: 'alice', [claim]: many(length, String) }, {})
      expect(words(1000)[claim]).to.have.length(1000)
      expect(() => words(1001)).to.throw(`the bearer token has 1001 ${claim}: at most 1000 are supported`)
    })

  it('is a list that stays bounded when the headers may be larger than ours', async () => {
    // 210,000 characters of paths once kept the process busy for seconds.
    const response = await get(`/w?read_mask=${many(30_000, (n) => `tags.k${n}`).join(',')}`)
    expect(response.status).to.equal(400)
    expect((await get('/w')).status).to.equal(200)
  })
})

describe('work on what a caller repeats', () => {
  const deep = (length: number) => many(length, (index) => `tags.k${index}`)
  const listed = readMaskOf(SpecimenService.method.getSpecimen)

  it('is linear in the paths of a read mask, in the chain', () => {
    const work = (size: number) => visitsOf(() => readTree(deep(size), SpecimenSchema))
    expect(isLinear(work, 250)).to.equal(true)
  })

  it('is linear in the paths of a read mask, at the gateway', () => {
    if (listed === undefined) throw new TypeError('the method has no read mask')
    const work = (size: number) => visitsOf(() => prune('{}', listed, deep(size)))
    expect(isLinear(work, 250)).to.equal(true)
  })

  it('is linear in the depth of a path', () => {
    const path = (depth: number) => `request.nested${'.inner'.repeat(depth)}`
    const work = (size: number) => visitsOf(() => readTree([path(size)], EchoResponseSchema))
    expect(isLinear(work, 150)).to.equal(true)
  })

  it('asks for the groups of a caller once per grant, not once per grant and group', () => {
    const principal = { subject: 'a', tenant: 't', groups: many(1000, String), scopes: [] }
    const question = {
      ...{ principal, method: '', verb: 'get', resource: 'x', type: 'x' },
      signal: new AbortController().signal,
    }
    const grants = (count: number) =>
      many(count, (n) => ({ tenant: '*', subjects: [`group:none-${n}`], verbs: ['*'], resource: '*' }))
    const { includes } = Array.prototype
    let compared = 0
    Array.prototype.includes = function (this: unknown[], ...wanted) {
      compared += this.length
      return includes.apply(this, wanted)
    }
    try {
      expect(new DevAuthorizer(grants(200)).authorize(question)).to.equal(false)
    } finally {
      Array.prototype.includes = includes
    }
    expect(compared).to.equal(0)
  })
})
