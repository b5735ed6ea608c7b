import { expect } from 'chai'
import {
  Aborted,
  AshlarError,
  type Code,
  CODES,
  ErrConflict,
  ErrNotFound,
  ErrPreconditionFailed,
  InvalidArgument,
  ResourceExhausted,
  Unauthenticated,
} from '../../../lib/errors.js'
import { json, type Running, startGateway } from '../start-gateway.js'

interface ErrorBody {
  readonly code: number
  readonly message: string
  readonly details: readonly Record<string, unknown>[]
}

describe('errors through the gateway', () => {
  let running: Running
  const logged: object[] = []
  before(async () => {
    running = await startGateway({
      logger: { warn: (fields) => logged.push(fields), error: (fields) => logged.push(fields) },
    })
  })
  after(() => running.stop())
  beforeEach(() => {
    logged.length = 0
    running.dispatcher.heard.length = 0
    running.dispatcher.before = () => {}
  })

  const failing = async (
    error: unknown,
  ): Promise<{ readonly answer: Response; readonly body: ErrorBody }> => {
    running.dispatcher.before = () => {
      throw error
    }
    const answer = await running.fetch('/v1/echo')
    return { answer, body: (await answer.json()) as ErrorBody }
  }

  for (const [code, status] of [
    ['CANCELLED', 499],
    ['UNKNOWN', 500],
    ['INVALID_ARGUMENT', 400],
    ['DEADLINE_EXCEEDED', 504],
    ['NOT_FOUND', 404],
    ['ALREADY_EXISTS', 409],
    ['PERMISSION_DENIED', 403],
    ['RESOURCE_EXHAUSTED', 429],
    ['FAILED_PRECONDITION', 400],
    ['ABORTED', 409],
    ['OUT_OF_RANGE', 400],
    ['UNIMPLEMENTED', 501],
    ['INTERNAL', 500],
    ['UNAVAILABLE', 503],
    ['DATA_LOSS', 500],
    ['UNAUTHENTICATED', 401],
  ] as readonly (readonly [Code, number])[])
    it(`returns ${status} for ${code} (google.rpc.Code)`, async () => {
      const { answer, body } = await failing(new AshlarError(code, 'why'))
      expect(answer.status).to.equal(status)
      expect(body).to.deep.equal({ code: CODES[code], message: 'why', details: [] })
      expect(answer.headers.get('content-type')).to.equal('application/json')
      expect(answer.headers.get('cache-control')).to.equal('no-store')
      expect(answer.headers.get('x-request-id')).to.equal('minted')
    })

  const type = (name: string): string => `type.googleapis.com/google.rpc.${name}`
  for (const [what, error, status, details] of [
    [
      'a missing entity',
      new ErrNotFound(),
      404,
      [{ '@type': type('ErrorInfo'), reason: 'NOT_FOUND', domain: 'ashlar', metadata: {} }],
    ],
    [
      'a taken value',
      new ErrConflict(),
      409,
      [{ '@type': type('ErrorInfo'), reason: 'ALREADY_EXISTS', domain: 'ashlar', metadata: {} }],
    ],
    [
      'a violated constraint',
      new ErrPreconditionFailed(),
      400,
      [{ '@type': type('ErrorInfo'), reason: 'PRECONDITION_FAILED', domain: 'ashlar', metadata: {} }],
    ],
    [
      'a stale etag',
      ErrPreconditionFailed.etag(),
      412,
      [
        { '@type': type('ErrorInfo'), reason: 'PRECONDITION_FAILED', domain: 'ashlar', metadata: {} },
        {
          '@type': type('PreconditionFailure'),
          violations: [
            {
              type: 'ETAG',
              subject: 'etag',
              description: 'the etag does not match the current one: read the resource again and retry',
            },
          ],
        },
      ],
    ],
    [
      'a wrong field',
      new InvalidArgument('widget.size', 'must not be negative'),
      400,
      [
        {
          '@type': type('BadRequest'),
          fieldViolations: [{ field: 'widget.size', description: 'must not be negative', reason: '' }],
        },
      ],
    ],
    [
      'too many calls',
      new ResourceExhausted('slow down', 1500),
      429,
      [{ '@type': type('RetryInfo'), retryDelay: '1.500s' }],
    ],
  ] as const)
    it(`packs the details of ${what} as Any JSON (google.rpc.Status)`, async () => {
      const { answer, body } = await failing(error)
      expect(answer.status).to.equal(status)
      expect(body.details).to.deep.equal(details)
      expect(body.message).to.equal(error.wireMessage)
    })

  it('sends Retry-After in whole seconds, rounded up (RFC 9110 10.2.3)', async () => {
    const { answer } = await failing(new ResourceExhausted('slow down', 1500))
    expect(answer.headers.get('retry-after')).to.equal('2')
  })

  it('sends WWW-Authenticate with 401 alone (RFC 9110 11.6.1, RFC 6750 3)', async () => {
    expect((await failing(new Unauthenticated())).answer.headers.get('www-authenticate')).to.equal(
      'Bearer error="invalid_token"',
    )
    expect((await failing(new Aborted())).answer.headers.get('www-authenticate')).to.equal(null)
  })

  it('says nothing of an error that is not meant for callers, and logs it', async () => {
    const { answer, body } = await failing(new TypeError('SQLSTATE 23505 at table widgets'))
    expect(answer.status).to.equal(500)
    expect(body).to.deep.equal({ code: 13, message: 'internal error', details: [] })
    expect(logged).to.have.lengthOf(1)
    expect(logged[0]).to.have.nested.property('err.name', 'TypeError')
  })

  for (const [what, path, init, status, code, headers, rule] of [
    ['an unknown path', '/nope', {}, 404, 5, {}, 'RFC 9110 15.5.5'],
    ['an unknown version', '/v9/echo', {}, 404, 5, {}, 'RFC 9110 15.5.5'],
    ['the root', '/', {}, 404, 5, {}, 'RFC 9110 15.5.5'],
    ['a trailing slash', '/v1/echo/', {}, 404, 5, {}, 'RFC 3986: another path'],
    [
      'a wrong method',
      '/v1/echo',
      { method: 'DELETE' },
      405,
      12,
      { allow: 'GET, HEAD, OPTIONS, POST' },
      'RFC 9110 15.5.6',
    ],
    [
      'a wrong method on a parameter',
      '/v1/widgets/1',
      { method: 'POST' },
      405,
      12,
      { allow: 'DELETE, GET, HEAD, OPTIONS, PATCH' },
      'RFC 9110 15.5.6',
    ],
    [
      'HEAD where there is no GET',
      '/v1/widgets:batchUpdate',
      { method: 'HEAD' },
      405,
      0,
      { allow: 'OPTIONS, POST' },
      'RFC 9110 9.3.2',
    ],
    ['HEAD of a stream', '/v1/count', { method: 'HEAD' }, 405, 0, { allow: 'GET' }, 'RFC 9110 15.5.6'],
    [
      'a verb under another method',
      '/v1/widgets/1:retire',
      {},
      405,
      12,
      { allow: 'OPTIONS, POST' },
      'AIP-136',
    ],
    [
      'a form',
      '/v1/echo',
      { method: 'POST', body: new URLSearchParams('a=b') },
      415,
      3,
      { accept: 'application/json' },
      'RFC 9110 15.5.16',
    ],
    [
      'another coding',
      '/v1/echo',
      { ...json('POST', '{}'), headers: { 'content-encoding': 'zstd' } },
      415,
      3,
      { 'accept-encoding': 'gzip, deflate, br' },
      'RFC 9110 15.5.16',
    ],
    [
      'a 2 MB body',
      '/v1/echo',
      json('POST', `{"text":"${'x'.repeat(2_000_000)}"}`),
      413,
      8,
      {},
      'RFC 9110 15.5.14',
    ],
    [
      'If-None-Match on a write',
      '/v1/echo',
      { ...json('POST', '{}'), headers: { 'content-type': 'application/json', 'if-none-match': '*' } },
      400,
      3,
      {},
      'RFC 9110 13.1.2',
    ],
    ['a broken escape in the path', '/v1/widgets/%ff', {}, 400, 3, {}, 'RFC 3986 2.5'],
    ['a broken escape in the query', '/v1/echo?text=%ff', {}, 400, 3, {}, 'RFC 3986 2.5'],
    ['an unknown query parameter', '/v1/echo?nope=1', {}, 400, 3, {}, 'unknown query parameters are refused'],
    [
      'an unknown body field',
      '/v1/echo',
      json('POST', '{"nope":1}'),
      400,
      3,
      {},
      'unknown body fields are refused',
    ],
    [
      'a wrong deadline',
      '/v1/echo',
      { headers: { 'grpc-timeout': 'soon' } },
      400,
      3,
      {},
      'gRPC over HTTP/2: Timeout',
    ],
    [
      'a header that is not ASCII',
      '/v1/echo',
      { headers: { subject: 'caf\u00e9' } },
      400,
      3,
      {},
      'gRPC over HTTP/2: ASCII-Value',
    ],
    [
      'a probe with POST',
      '/healthz',
      { method: 'POST' },
      405,
      12,
      { allow: 'GET, HEAD' },
      'probes support GET and HEAD',
    ],
  ] as readonly (readonly [string, string, RequestInit, number, number, Record<string, string>, string])[])
    it(`returns ${status} for ${what} (${rule})`, async () => {
      const answer = await running.fetch(path, init)
      expect(answer.status).to.equal(status)
      for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).to.equal(value)
      if (code !== 0) expect(await answer.json()).to.have.property('code', code)
      expect(answer.headers.get('x-request-id')).to.match(/^[\x21-\x7e]{1,128}$/)
      expect(running.dispatcher.heard).to.have.lengthOf(0)
    })

  it('names the field of a wrong value', async () => {
    const answer = await running.fetch('/v1/widgets', json('POST', { displayName: 'a', size: 'big' }))
    expect(await answer.json()).to.deep.include({
      message: 'widget.size: expected a 32-bit integer',
    })
  })

  it('repeats the request id of a caller whose request never reached a handler', async () => {
    const answer = await running.fetch('/nope', { headers: { 'x-request-id': 'mine' } })
    expect(answer.headers.get('x-request-id')).to.equal('mine')
  })
})
