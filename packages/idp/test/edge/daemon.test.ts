import { expect } from 'chai'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { canonicalHost } from '../../lib/edge/canonical-host.js'
import { call, ownEdge, type OwnEdge } from '../support/own-edge.js'

interface Row {
  readonly request: { readonly method: string; readonly path: string; readonly body?: string }
  readonly response: {
    readonly status: number
    readonly headers: Record<string, string>
    readonly body: string
  }
}

const VECTORS = join(
  process.env['ASHLAR_TEST_VECTORS'] ?? join(process.cwd(), '../shared/vectors'),
  'edge-daemon.json',
)

describe("the daemon's protocol", () => {
  let own: OwnEdge
  let now = Date.UTC(2026, 10, 26, 12, 0, 0, 120)
  let clockReads = 0
  beforeEach(async () => {
    own = await ownEdge({ now: () => (clockReads++, now) })
  })
  afterEach(() => own.close())

  const send = (method: string, path: string, body?: unknown) =>
    call(
      { socketPath: own.edge.socketPath, method, path },
      body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    )
  const put = (fields: object) =>
    send('PUT', '/v1/routes', { host: 'a.dev.test', upstream: 'http://127.0.0.1:1', ...fields })

  it('gives the answers of the original daemon, byte for byte', async function () {
    if (!existsSync(VECTORS)) {
      console.warn(`SKIPPED: there is no ${VECTORS}`)
      return this.skip()
    }
    const { rows } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { rows: readonly Row[] }
    for (const { request, response } of rows) {
      const name = `${request.method} ${request.path} ${request.body ?? ''}`
      const got = await send(request.method, request.path, request.body)
      expect(got.status, name).to.equal(response.status)
      expect(withoutTimes(got.body), name).to.equal(withoutTimes(response.body))
      const isTimed = withoutTimes(response.body) !== response.body
      for (const [header, value] of Object.entries(response.headers))
        if (!isTimed || header !== 'content-length')
          expect(got.headers[header], `${name}: ${header}`).to.equal(value)
    }
  })

  const DURATIONS: readonly (readonly [string, number | string])[] = [
    ['1h30m', 5_400_000_000_000],
    ['1.5s', 1_500_000_000],
    ['.5s', 500_000_000],
    ['2us', 2_000],
    ['2µs', 2_000],
    ['-1m', -60_000_000_000],
    ['+1ns', 1],
    ['5', 'invalid ttl: invalid duration "5": time: missing unit in duration "5"\n'],
    ['5x', 'invalid ttl: invalid duration "5x": time: unknown unit "x" in duration "5x"\n'],
    ['-', 'invalid ttl: invalid duration "-": time: invalid duration "-"\n'],
    ['1s.', 'invalid ttl: invalid duration "1s.": time: invalid duration "1s."\n'],
    ['999999999h', 'invalid ttl: invalid duration "999999999h": time: invalid duration "999999999h"\n'],
  ]
  for (const [ttl, expected] of DURATIONS)
    it(`ttl ${ttl}`, async () => {
      const { status, body } = await put({ ttl })
      if (typeof expected === 'string') expect([status, body]).to.deep.equal([400, expected])
      else expect((JSON.parse(body) as { ttl?: number }).ttl ?? 0).to.equal(expected)
    })

  const BODIES: readonly (readonly [string, number, string])[] = [
    ['', 400, 'invalid json: EOF\n'],
    ['[]', 400, 'invalid json: json: cannot unmarshal array into Go value of type daemon.RegisterRequest\n'],
    [
      '{"host":1}',
      400,
      'invalid json: json: cannot unmarshal number into Go struct field RegisterRequest.host of type string\n',
    ],
    [
      '{"host":"a","upstream":"u","backend_tls":"x"}',
      400,
      'invalid json: json: cannot unmarshal string into Go struct field RegisterRequest.backend_tls of type bool\n',
    ],
    ['null', 400, 'host and upstream are required\n'],
    ['{"host":null,"upstream":"u"}', 400, 'host and upstream are required\n'],
    [
      '{"HOST":"a","Upstream":"u"} and more',
      201,
      '{"host":"a","upstream":"u","source":"api","created_at":"0001-01-01T00:00:00Z","renewed_at":"0001-01-01T00:00:00Z"}\n',
    ],
    [
      '{"host":"a","upstream":"<&>","tile":{}}',
      201,
      '{"host":"a","upstream":"\\u003c\\u0026\\u003e","tile":{},"source":"api","created_at":"0001-01-01T00:00:00Z","renewed_at":"0001-01-01T00:00:00Z"}\n',
    ],
    [
      '{"host":"a","upstream":"u","path":"/p","strip_prefix":true,"backend_tls":true}',
      201,
      '{"host":"a","path":"/p","strip_prefix":true,"upstream":"u","backend_tls":true,"source":"api","created_at":"0001-01-01T00:00:00Z","renewed_at":"0001-01-01T00:00:00Z"}\n',
    ],
  ]
  for (const [body, status, text] of BODIES)
    it(`the body ${body || '(none)'}`, async () => {
      const got = await send('PUT', '/v1/routes', body)
      expect([got.status, got.body]).to.deep.equal([status, text])
    })

  const FORMS = [
    ...[
      'App.dev.test',
      'APP.DEV.TEST',
      'app.dev.test.',
      'app.dev.test..',
      'app.dev.test:443',
      'app.dev.test:',
    ],
    ...[
      '\uff41pp.dev.test',
      'app\u3002dev.test',
      'a\u00adpp.dev.test',
      '%61pp.dev.test',
      'App.dev.test.:8443',
    ],
  ]
  for (const host of FORMS)
    it(`the host ${JSON.stringify(host)} is app.dev.test`, async () => {
      expect((await put({ host: 'app.dev.test', owner: 'one' })).status).to.equal(201)
      expect(await put({ host, owner: 'two' })).to.include({
        status: 409,
        body: 'conflict: host "app.dev.test" path "" is owned by "one"\n',
      })
      expect((await put({ host, owner: 'one' })).body).to.include('"host":"app.dev.test"')
      expect((await send('GET', `/v1/routes/${encodeURIComponent(host)}`)).status).to.equal(200)
      expect((await send('DELETE', `/v1/routes/${encodeURIComponent(host)}`)).status).to.equal(204)
      expect((await send('GET', '/v1/routes')).body).to.equal('[]\n')
    })

  it('an address with several trailing dots has the form of the address', () => {
    const forms = ['127.1..', '0x7f.1..', '127.0.0.1...', '１２７.１..']
    expect(forms.map(canonicalHost)).to.deep.equal(forms.map(() => '127.0.0.1'))
    expect(canonicalHost('1.2.3.4.5..')).to.equal(undefined)
  })

  it('a host in another script is its Punycode', async () => {
    expect((await put({ host: 'B\u00fccher.dev.test', owner: 'one' })).body).to.include(
      'xn--bcher-kva.dev.test',
    )
    expect((await put({ host: 'XN--BCHER-KVA.dev.test', owner: 'two' })).status).to.equal(409)
  })

  const NO_HOSTS = [
    '.',
    ':443',
    'a b',
    'a\tb',
    'a/b',
    'a?b',
    'a#b',
    'me@a',
    'a\\b',
    '<&>',
    'a:99999',
    '[::1',
    '1.2.3.4.5',
  ]
  for (const host of [...NO_HOSTS, 'a'.repeat(254)])
    it(`what is not a host is not registered: ${JSON.stringify(host).slice(0, 20)}`, async () => {
      expect((await put({ host })).status).to.equal(400)
      expect((await send('GET', '/v1/routes')).body).to.equal('[]\n')
    })

  it('a text that does not end is read once, however many quotes it has', async () => {
    // Begun again at each quote, it would take hours.
    const got = await send('PUT', '/v1/routes', `{"${'\\"'.repeat(400_000)}\\`)
    expect([got.status, got.body]).to.deep.equal([400, 'invalid json: unexpected EOF\n'])
  })

  it('routes take 6 MiB together, so that their list can be read', async () => {
    const project = 'x'.repeat(1_000_000)
    const statuses: number[] = []
    for (let at = 0; at < 8; at++) statuses.push((await put({ host: `${at}.localhost`, project })).status)
    expect(statuses).to.deep.equal([201, 201, 201, 201, 201, 201, 409, 409])
    expect((await put({ host: '0.localhost', project })).status).to.equal(201)
    await send('DELETE', '/v1/routes/0.localhost')
    expect((await put({ host: '7.localhost', project })).status).to.equal(201)
  })

  it('a request reads the routes of its host, and a registration reads one route', async () => {
    const register = (host: string) =>
      own.edge.registry.register({
        ...{ host, path: '', stripPrefix: false, upstream: 'u', protocol: '', backendTls: false },
        ...{ project: '', tile: undefined, owner: '', ttl: 30_000_000_000n },
      })
    for (let at = 0; at < 2_000; at++) register(`${at}.localhost`)
    clockReads = 0
    expect(own.edge.registry.lookup('7.localhost')?.host).to.equal('7.localhost')
    expect(own.edge.registry.has('8.localhost')).to.equal(true)
    register('9.localhost')
    expect(clockReads).to.be.at.most(10)
  })

  it('a lease lapses that long after its last PUT, and a route without one stays', async () => {
    await put({ ttl: '30s', owner: 'one' })
    await put({ host: 'b.dev.test' })
    now += 20_000
    await put({ ttl: '30s', owner: 'one' })
    now += 30_000
    expect((await send('GET', '/v1/routes/a.dev.test')).status).to.equal(200)
    now += 1
    expect((await send('GET', '/v1/routes/a.dev.test')).status).to.equal(404)
    expect((await put({ owner: 'other' })).status).to.equal(201)
    now += 100 * 24 * 60 * 60 * 1000
    expect((await send('GET', '/v1/status')).body).to.include('"routes":2')
  })

  it('a route with an owner is taken neither by another owner nor without one', async () => {
    await put({ owner: 'one' })
    for (const owner of ['two', undefined, ''])
      expect(await put({ owner })).to.include({
        status: 409,
        body: 'conflict: host "a.dev.test" path "" is owned by "one"\n',
      })
    expect((await put({ owner: 'one', upstream: 'http://127.0.0.1:2' })).status).to.equal(201)
    await put({ host: 'free.dev.test' })
    expect((await put({ host: 'free.dev.test', owner: 'two' })).status).to.equal(201)
  })

  it('the longest path that fits is found, and a host goes with all its paths', async () => {
    for (const path of ['', '/api', '/api/v1']) await put({ path, upstream: `http://127.0.0.1:1${path}` })
    const upstreamOf = async (path: string) =>
      (JSON.parse((await send('GET', `/v1/routes/a.dev.test?path=${path}`)).body) as { upstream: string })
        .upstream
    expect(await upstreamOf('/apiary')).to.equal('http://127.0.0.1:1')
    expect(await upstreamOf('/api/v1/x')).to.equal('http://127.0.0.1:1/api/v1')
    expect((await send('DELETE', '/v1/routes/a.dev.test?path=/ap')).status).to.equal(404)
    expect((await send('DELETE', '/v1/routes/a.dev.test')).status).to.equal(204)
    expect((await send('GET', '/v1/routes')).body).to.equal('[]\n')
  })

  it('the socket is for this user alone, and the address for requests to this machine', async () => {
    expect(statSync(own.edge.socketPath).mode & 0o777).to.equal(0o600)
    const port = own.edge.daemonPort ?? 0
    for (const [host, status] of [
      [`127.0.0.1:${port}`, 200],
      ['localhost', 200],
      [`[::1]:${port}`, 200],
      ['rebound.example', 403],
      ['127.0.0.1.example', 403],
    ] as const)
      expect(
        (await call({ host: '127.0.0.1', port, path: '/v1/status', headers: { host } })).status,
        host,
      ).to.equal(status)
    const { status, headers } = await call({
      ...{ host: '127.0.0.1', port, path: '/v1/routes', method: 'OPTIONS' },
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'PUT' },
    })
    expect(status).to.equal(405)
    expect(headers).not.to.have.property('access-control-allow-origin')
  })

  it('has at most 100 connections over TCP', async () => {
    const opened = async () => {
      const socket = connect(own.edge.daemonPort ?? 0, '127.0.0.1')
      await once(socket, 'connect')
      return socket.resume()
    }
    const held = await Promise.all(Array.from({ length: 100 }, opened))
    await once(await opened(), 'close')
    await Promise.all(held.map((socket) => once(socket.end(), 'close')))
  })

  it('a second edge of the same home says so, and a socket that was left behind is replaced', async () => {
    const home = { folder: own.folder, socketPath: own.edge.socketPath, host: '127.0.0.1', port: 0 }
    const second = await ownEdge({ home }).then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    )
    expect(second).to.include('an edge is already running')
  })
})

const withoutTimes = (body: string): string => body.replaceAll(/"20\d\d-[^"]*Z"/g, '"TIME"')
