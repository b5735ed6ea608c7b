import { expect } from 'chai'
import { ErrNotFound } from '../../../lib/errors.js'
import { isUuid } from '../../support/values/uuid.js'
import { hasAnswer, rawRequest, statusOf } from '../raw-request.js'
import { type Running, startGateway } from '../start-gateway.js'

const header = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\\r$`, 'im').exec(text)?.[1]

describe('headers of a response', () => {
  let running: Running
  before(async () => {
    running = await startGateway({
      cors: { origins: ['https://app.example.com'] },
      forwardHeaders: ['x-own'],
      responseHeaders: ['cache-control', 'vary', 'x-said'],
    })
  })
  after(() => running.stop())
  beforeEach(() => {
    running.dispatcher.before = () => {}
  })

  const HOST = 'Host: localhost\r\n'
  for (const [what, bytes, status] of [
    ['malformed HTTP', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['no Host', 'GET /v1/ping HTTP/1.1\r\n\r\n', 400],
    ['another expectation', `GET /v1/ping HTTP/1.1\r\n${HOST}Expect: x\r\n\r\n`, 417],
    ['headers that are too large', `GET /v1/ping HTTP/1.1\r\n${HOST}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, 405],
    ['no such path', `GET /nope HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 404],
    ['a stream', `GET /v1/count?upto=1 HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 200],
    ['a probe', `GET /readyz HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 200],
  ] as const)
    it(`say nosniff, and errors their id, for ${what}`, async () => {
      const { text } = await rawRequest(running.port, bytes)
      expect(statusOf(text)).to.equal(status)
      expect(header(text, 'x-content-type-options')).to.equal('nosniff')
      if (status >= 400) expect(isUuid(header(text, 'x-request-id') ?? '')).to.equal(true)
    })

  it("have the caller's own request id where it could be read", async () => {
    for (const bytes of [
      `GET /v1/ping HTTP/1.1\r\n${HOST}Expect: x\r\nX-Request-Id: mine\r\n\r\n`,
      `GET /v1/ping HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n`,
    ])
      expect(header((await rawRequest(running.port, bytes, hasAnswer)).text, 'x-request-id')).to.equal('mine')
  })

  const tagged = async (init: RequestInit = {}, said: Readonly<Record<string, string>> = {}) => {
    running.dispatcher.before = ({ incoming }) => {
      incoming.trailers.set('etag', 'e1')
      for (const [name, value] of Object.entries(said)) incoming.headers.set(name, value)
    }
    return running.fetch('/v1/echo', init)
  }

  for (const [what, init, status] of [
    ['a tagged response', {}, 200],
    ['a tagged response to HEAD', { method: 'HEAD' }, 200],
    ['304', { headers: { 'if-none-match': '"e1"' } }, 304],
  ] as const)
    it(`keep ${what} to its caller`, async () => {
      const answer = await tagged(init)
      expect([answer.status, answer.headers.get('cache-control')]).to.deep.equal([status, 'private'])
      expect(answer.headers.get('vary')).to.equal('Origin, Authorization, Accept-Encoding')
    })

  it('keep what a handler says of caches, and every name of Vary once', async () => {
    const { headers } = await tagged({}, { 'cache-control': 'public, max-age=60', vary: 'origin, X-Own' })
    expect(headers.get('cache-control')).to.equal('public, max-age=60')
    expect(headers.get('vary')?.toLowerCase().split(/, */).sort()).to.deep.equal([
      'accept-encoding',
      'authorization',
      'origin',
      'x-own',
    ])
  })

  it('keep what is read to its caller without an etag as well, an error too', async () => {
    const vary = 'Origin, Authorization, Accept-Encoding'
    for (const init of [{}, { method: 'HEAD' }]) {
      const { headers } = await running.fetch('/v1/ping', init)
      expect([headers.get('cache-control'), headers.get('vary')]).to.deep.equal(['private', vary])
    }
    running.dispatcher.before = () => {
      throw new ErrNotFound()
    }
    const { status, headers } = await running.fetch('/v1/echo')
    expect([status, headers.get('cache-control'), headers.get('vary')]).to.deep.equal([404, 'no-store', vary])
  })

  it('let pages of another origin send every header that the gateway understands', async () => {
    const { headers } = await running.fetch('/v1/echo', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'GET' },
    })
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
    expect(allowed).to.include.members([
      ...['account-id', 'authorization', 'baggage', 'content-encoding', 'content-type', 'grpc-timeout'],
      ...['groups', 'idempotency-key', 'if-match', 'if-none-match', 'prefer', 'subject', 'traceparent'],
      ...['tracestate', 'x-own', 'x-request-id'],
    ])
    expect(new Set(allowed).size).to.equal(allowed.length)
    expect(headers.get('access-control-expose-headers')?.toLowerCase()).to.include('x-said')
  })
})
