import { expect } from 'chai'
import { status } from '@grpc/grpc-js'
import { widgetServer } from '../../examples/widgets/main.js'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import type { Server } from '../../lib/server/server.js'
import { ForeignClient } from '../support/grpc/clients.js'

const WHO = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

interface Case {
  readonly name: string
  /** gRPC method and request, HTTP method and path. */
  readonly grpc?: readonly [string, object]
  readonly http: readonly [string, string, unknown?]
  readonly field: string
  readonly code?: status
  readonly http_status?: number
}

const list = (parameter: string, value: string): Pick<Case, 'grpc' | 'http' | 'field'> => ({
  grpc: ['ListWidgets', { [parameter]: value }],
  http: ['GET', `/v1/widgets?${parameter}=${encodeURIComponent(value)}`],
  field: parameter,
})

const CASES: readonly Case[] = [
  { name: 'an unknown filter field', ...list('filter', 'sise > 1') },
  { name: 'an unterminated string', ...list('filter', 'display_name = "x') },
  { name: 'a filter 10,000 deep', ...list('filter', '('.repeat(10_000)) },
  { name: 'a NUL in a filter', ...list('filter', 'display_name = "a\0b"') },
  { name: "a filter on the tenant's column", ...list('filter', 'account_id = "globex"') },
  { name: 'an unknown order field', ...list('order_by', 'sise') },
  { name: 'SQL as an order', ...list('order_by', 'size; DROP TABLE widgets') },
  { name: 'a bad page token', ...list('page_token', 'bm90IGEgdG9rZW4') },
  {
    name: 'an unknown mask field',
    grpc: ['UpdateWidget', { widget: { id: 'a' }, update_mask: ['sise'] }],
    http: ['PATCH', '/v1/widgets/a?update_mask=sise', {}],
    field: 'update_mask',
  },
  {
    name: 'account_id in a mask',
    grpc: ['UpdateWidget', { widget: { id: 'a' }, update_mask: ['account_id'] }],
    http: ['PATCH', '/v1/widgets/a?update_mask=account_id', {}],
    field: 'update_mask',
  },
  {
    name: 'an empty mask',
    grpc: ['UpdateWidget', { widget: { id: 'a' } }],
    http: ['PATCH', '/v1/widgets/a', {}],
    field: 'update_mask',
  },
  {
    name: 'a NUL in a string',
    grpc: ['CreateWidget', { widget: { display_name: 'a\0b' } }],
    http: ['POST', '/v1/widgets', { displayName: 'a\0b' }],
    field: 'display_name',
  },
  {
    name: 'a string that is too long',
    grpc: ['CreateWidget', { widget: { display_name: 'x'.repeat(300) } }],
    http: ['POST', '/v1/widgets', { displayName: 'x'.repeat(300) }],
    field: 'display_name',
  },
  { name: 'a number out of range', http: ['POST', '/v1/widgets', { size: 2 ** 31 }], field: 'size' },
  {
    name: 'an enum value nobody declared',
    grpc: ['CreateWidget', { widget: { state: 99 } }],
    http: ['POST', '/v1/widgets', { state: 'BROKEN' }],
    field: 'state',
  },
  { name: 'a wrong JSON type', http: ['POST', '/v1/widgets', { displayName: 7 }], field: 'display_name' },
  { name: 'an unknown body field', http: ['POST', '/v1/widgets', { displayNam: 'x' }], field: 'displayNam' },
  { name: 'an unknown query parameter', http: ['GET', '/v1/widgets?filtre=x'], field: 'filtre' },
  {
    name: "another tenant's key",
    grpc: ['GetWidget', { id: 'theirs' }],
    http: ['GET', '/v1/widgets/theirs'],
    field: '',
    code: status.NOT_FOUND,
    http_status: 404,
  },
  {
    name: 'a key with a NUL',
    grpc: ['GetWidget', { id: 'a\0' }],
    http: ['GET', '/v1/widgets/a%00'],
    field: '',
    code: status.NOT_FOUND,
    http_status: 404,
  },
]

const LEAKS =
  /SELECT|INSERT|UPDATE "|FROM |widgets"|deleted_at|sqlite|constraint failed|SQLSTATE|duplicate key|node:|\.js:\d|at \w+ \(/i

describe('bad input', () => {
  const stop = new AbortController()
  let server: Server
  let served: Promise<void>
  let client: ForeignClient

  before(async () => {
    server = await widgetServer({
      database: ':memory:',
      grpcAddr: '127.0.0.1:0',
      httpAddr: '127.0.0.1:0',
      logger: silent,
    })
    served = server.serve(stop.signal)
    await server.ready()
    client = new ForeignClient(WidgetService, server.grpcAddr())
    for (const [tenant, id] of [
      ['acme', 'a'],
      ['globex', 'theirs'],
    ] as const)
      await client.unary(
        'CreateWidget',
        { widget_id: id, widget: { display_name: id } },
        { ...WHO, 'account-id': tenant },
      )
  })
  after(async () => {
    client.close()
    stop.abort()
    await served
  })

  const send = ([method, path, body]: Case['http']) =>
    fetch(`http://${server.httpAddr()}${path}`, {
      method,
      headers: { ...WHO, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })

  for (const { name, grpc, http, field, code = status.INVALID_ARGUMENT, http_status = 400 } of CASES) {
    if (grpc !== undefined)
      it(`${name}: ${status[code]} over gRPC`, async () => {
        const outcome = await client.unary(...grpc, WHO)
        expect(status[outcome.code]).to.equal(status[code])
        expect(outcome.details).to.include(field).and.not.match(LEAKS)
      })
    it(`${name}: ${http_status} over HTTP`, async () => {
      const response = await send(http)
      const text = await response.text()
      expect(`${response.status} ${response.status === http_status ? '' : text}`).to.equal(`${http_status} `)
      expect(text).to.include(field).and.not.match(LEAKS)
    })
  }

  it('a body of 2 MB: 413 in our shape', async () => {
    const response = await send(['POST', '/v1/widgets', { description: 'x'.repeat(2_000_000) }])
    expect(response.status).to.equal(413)
    expect(await response.json()).to.include({ code: 8 })
  })

  it('a message of 5 MB over gRPC: RESOURCE_EXHAUSTED', async () => {
    const { code } = await client.unary(
      'CreateWidget',
      { widget: { description: 'x'.repeat(5_000_000) } },
      WHO,
    )
    expect(status[code]).to.equal('RESOURCE_EXHAUSTED')
  })

  it('a JSON body 10,000 deep: 400', async () => {
    const response = await send(['POST', '/v1/widgets', `${'{"tags":'.repeat(10_000)}1${'}'.repeat(10_000)}`])
    expect(response.status).to.equal(400)
  })

  it('leaves the server serving', async () => {
    expect((await send(['GET', '/v1/widgets/a'])).status).to.equal(200)
  })
})
