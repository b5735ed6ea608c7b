import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { resolved } from '../../../lib/server/config/config-field.js'
import { GATEWAY_FIELDS } from '../../../lib/server/config/config-defaults.js'
import { expect } from 'chai'
import { Gateway } from '../../../lib/gateway/gateway.js'
import { type CorsOptions, isUnaskedFromPage } from '../../../lib/gateway/http/cors.js'
import { EchoDispatcher } from '../echo-dispatcher.js'
import { type Running, startGateway } from '../start-gateway.js'

const APP = 'https://app.example.com'

describe('CORS', () => {
  const started: Running[] = []
  const start = async (cors: CorsOptions): Promise<Running> => {
    const running = await startGateway({ cors })
    started.push(running)
    return running
  }
  afterEach(() => Promise.all(started.splice(0).map((running) => running.stop())))

  const preflight = (running: Running, origin: string, path = '/v1/widgets/1'): Promise<Response> =>
    running.fetch(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PATCH' } })

  it('is off unless it is configured', async () => {
    const running = await startGateway()
    started.push(running)
    const answer = await running.fetch('/v1/echo', { headers: { origin: APP } })
    expect(answer.headers.get('access-control-allow-origin')).to.equal(null)
    expect((await preflight(running, APP)).headers.get('access-control-allow-origin')).to.equal(null)
  })

  it('does not let another page send JSON without a content type, which browsers do not ask about', async () => {
    const send = async (running: Running, headers: Record<string, string>) =>
      (
        await running.fetch('/v1/echo', {
          method: 'POST',
          headers,
          body: Buffer.from('{"text":"x"}'),
        })
      ).status
    const [closed, one, all] = [
      await startGateway(),
      await start({ origins: [APP] }),
      await start({ origins: '*' }),
    ]
    started.push(closed)
    for (const origin of ['https://evil.example.com', 'null']) {
      expect([await send(closed, { origin }), await send(one, { origin })]).to.deep.equal([415, 415])
      expect(await send(one, { origin, 'content-type': 'application/json' })).to.equal(200)
      expect(await send(all, { origin })).to.equal(200)
    }
    expect([await send(one, { origin: APP }), await send(closed, {}), await send(one, {})]).to.deep.equal([
      ...[200, 200, 200],
    ])
  })

  it('does not let another page send what browsers do not ask about, with a body or without', async () => {
    const send = async (running: Running, headers: Record<string, string>, body?: string) =>
      (await running.fetch('/v1/echo', { method: 'POST', headers, ...(body !== undefined && { body }) }))
        .status
    const closed = await startGateway()
    started.push(closed)
    const one = await start({ origins: [APP] })
    const evil = { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' }
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
    for (const running of [closed, one]) {
      expect(await send(running, evil), 'nothing').to.equal(415)
      for (const type of [...types, ...types.map((one) => one.toUpperCase())])
        for (const body of ['', 'a=b', '{}'])
          expect(await send(running, { ...evil, 'content-type': type }, body), type).to.equal(415)
      expect(await send(running, { ...evil, 'content-type': 'application/json' }, '{}')).to.equal(200)
      const own = new URL(running.url).host
      expect(await send(running, { origin: `https://${own}` }), 'its own page').to.equal(200)
      expect(await send(running, { ...evil, 'sec-fetch-site': 'same-origin' })).to.equal(200)
      expect(await send(running, { origin: `https://${own}.evil.example.com` })).to.equal(415)
      expect(await send(running, {})).to.equal(200)
    }
    expect(await send(one, { origin: APP })).to.equal(200)
  })

  it('rejects a POST that a browser sends for another site without an Origin, whatever its type', async () => {
    const closed = await startGateway()
    const [one, all] = [await start({ origins: [APP] }), await start({ origins: '*' })]
    started.push(closed)
    const send = async (running: Running, site: string, more: Record<string, string> = {}) =>
      (
        await running.fetch('/v1/echo', {
          method: 'POST',
          headers: { 'sec-fetch-site': site, ...more },
          body: '{}',
        })
      ).status
    const json = { 'content-type': 'application/json' }
    for (const site of ['cross-site', 'same-site'])
      for (const more of [{}, json]) {
        expect([await send(closed, site, more), await send(one, site, more)]).to.deep.equal([415, 415])
        expect(await send(all, site, json)).to.equal(200)
      }
    for (const site of ['same-origin', 'none']) expect(await send(closed, site, json)).to.equal(200)
  })

  it('takes no page for its own where neither names a host', () => {
    const asked = (headers: IncomingHttpHeaders) =>
      isUnaskedFromPage(undefined, { headers } as IncomingMessage)
    expect(asked({ origin: 'null' })).to.equal(true)
    expect(asked({ origin: 'null', host: 'api.example.com' })).to.equal(true)
    expect(asked({ origin: 'https://api.example.com', host: 'api.example.com' })).to.equal(false)
    expect(asked({ origin: 'https://api.example.com', ':authority': 'api.example.com' })).to.equal(false)
  })

  it('responds to a preflight without asking a handler', async () => {
    const running = await start({
      origins: [APP],
      credentials: true,
      allowHeaders: ['X-Own'],
      maxAgeSeconds: 5,
    })
    const { status, headers } = await preflight(running, APP)
    expect(status).to.equal(204)
    expect(headers.get('access-control-allow-origin')).to.equal(APP)
    expect(headers.get('access-control-allow-credentials')).to.equal('true')
    expect(headers.get('access-control-allow-methods')).to.equal('DELETE, GET, HEAD, OPTIONS, PATCH')
    expect(headers.get('access-control-allow-headers')).to.include('If-Match').and.include('X-Own')
    expect(headers.get('access-control-max-age')).to.equal('5')
    expect(headers.get('vary')).to.equal('Origin')
    expect(running.dispatcher.heard).to.have.lengthOf(0)
  })

  it('lets a known origin read responses and errors', async () => {
    const running = await start({ origins: [APP], exposeHeaders: ['X-Total'] })
    for (const path of ['/v1/echo', '/v1/echo?nope=1', '/nope']) {
      const { headers } = await running.fetch(path, { headers: { origin: APP } })
      expect(headers.get('access-control-allow-origin'), path).to.equal(APP)
      expect(headers.get('access-control-expose-headers'), path).to.include('ETag').and.include('X-Total')
    }
  })

  it('tells another origin nothing', async () => {
    const running = await start({ origins: [APP] })
    for (const origin of ['https://evil.example', `${APP}.evil.example`, 'null', 'http://app.example.com']) {
      const answer = await running.fetch('/v1/echo', { headers: { origin } })
      expect(answer.headers.get('access-control-allow-origin'), origin).to.equal(null)
      expect(answer.headers.get('vary'), origin).to.include('Origin')
      expect((await preflight(running, origin)).headers.get('access-control-allow-methods'), origin).to.equal(
        null,
      )
    }
  })

  it('lets everybody read where the origins are *', async () => {
    const running = await start({ origins: '*' })
    const answer = await running.fetch('/v1/echo', { headers: { origin: 'https://any.example' } })
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*')
    expect(answer.headers.get('access-control-allow-credentials')).to.equal(null)
  })

  it('returns Allow for an OPTIONS that is no preflight', async () => {
    const running = await start({ origins: '*' })
    const answer = await running.fetch('/v1/widgets/1', { method: 'OPTIONS' })
    expect(answer.status).to.equal(204)
    expect(answer.headers.get('allow')).to.equal('DELETE, GET, HEAD, OPTIONS, PATCH')
    expect((await running.fetch('/nope', { method: 'OPTIONS' })).status).to.equal(404)
  })

  for (const [cors, rule] of [
    [{ origins: '*', credentials: true }, 'credentials need exact origins'],
    [{ origins: ['app.example.com'] }, 'an origin has a scheme'],
    [{ origins: [`${APP}/`] }, 'an origin has no path'],
    [{ origins: ['*'] }, '* is not in a list'],
  ] as readonly (readonly [CorsOptions, string])[])
    it(`refuses ${JSON.stringify(cors)} at start-up (${rule})`, () => {
      const options = {
        dispatcher: new EchoDispatcher(),
        methods: () => [],
        readiness: () => Promise.resolve([]),
        ...resolved(GATEWAY_FIELDS, { cors }),
      }
      expect(() => new Gateway(options)).to.throw(TypeError, /^cors: /)
    })
})
