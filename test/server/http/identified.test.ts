import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

describe('the request id of an HTTP response', () => {
  let running: RunningServer
  let seen: string | undefined

  before(async () => {
    running = await startServer(
      (builder) =>
        builder
          .register(EchoService, echoService)
          .httpHandler('/fetch', async () => new Response('hello'))
          .httpHandler('/throws', async () => {
            throw new RangeError('on purpose')
          })
          .httpHandler('/node', (request: IncomingMessage, response: ServerResponse) => {
            seen = request.headers['x-request-id'] as string
            response.writeHead(201, { 'x-more': '1' }).end()
          })
          .httpHandler('/own', async () => new Response('', { headers: { 'x-request-id': 'own' } })),
      { readinessChecks: [{ name: 'never', check: () => Promise.reject(new TypeError('no')) }] },
    )
  })
  after(() => running.stop())

  /** [what answers, path, status, request] */
  const rows: readonly (readonly [string, string, number, RequestInit?])[] = [
    ['a probe', '/healthz', 200],
    ['a probe that says no', '/readyz', 503],
    ['a probe under another method', '/healthz', 405, { method: 'DELETE' }],
    ['a call', '/v1/ping', 200],
    ['a call that is denied', '/v1/echo', 403, post({})],
    ['a stream', '/v1/count?upto=1', 200, { headers: ALICE }],
    ['a mounted handler in the style of fetch', '/fetch', 200],
    ['a mounted handler in the style of node', '/node', 201],
    ['a mounted handler that throws', '/throws', 500],
    ['no path at all', '/nowhere', 404],
    ['a malformed body', '/v1/echo', 400, { ...post(ALICE), body: '{' }],
  ]
  for (const [what, path, status, init] of rows)
    it(`is there, and the caller's where that is fit to be logged, for ${what}`, async () => {
      for (const [given, kept] of [
        [undefined, false],
        ['mine-1', true],
        ['not fit', false],
      ] as const) {
        const headers = { ...(init?.headers as object), ...(given && { 'x-request-id': given }) }
        const response = await fetch(running.http + path, { ...init, headers })
        await response.arrayBuffer()
        expect(response.status).to.equal(status)
        const id = response.headers.get('x-request-id') ?? ''
        expect(id).to.match(/^[\x21-\x7e]{1,128}$/)
        expect(id === given).to.equal(kept)
      }
    })

  it('is in the headers of the request for a mounted handler, and in the log for a call', async () => {
    const id = (await fetch(`${running.http}/node`)).headers.get('x-request-id')
    expect(seen).to.equal(id)
    running.records.length = 0
    const called = (await fetch(`${running.http}/v1/ping`)).headers.get('x-request-id')
    expect(running.records[0]?.fields['requestId']).to.equal(called)
  })

  it('is the own one of a handler that sets it', async () => {
    expect((await fetch(`${running.http}/own`)).headers.get('x-request-id')).to.equal('own')
  })
})
