import { expect } from 'chai'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Browser } from '../support/browser.js'
import { call } from '../support/own-edge.js'
import { authorization, ownProvider, type OwnProvider, REDIRECT } from '../support/own-provider.js'

describe('what the provider refuses', () => {
  let own: OwnProvider
  before(async () => {
    own = await ownProvider()
  })
  after(() => own.close())

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
    call({ host: '127.0.0.1', port: own.provider.port, path, method, headers }, body)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  it('every endpoint of the discovery document begins with the issuer, whatever the request says', async () => {
    for (const headers of [
      {},
      { host: 'idp.dev.test' },
      { host: `localhost:${own.provider.port}` },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
    ] as Record<string, string>[]) {
      const { body, status } = await ask('/.well-known/openid-configuration', headers)
      expect(status).to.equal(200)
      const document = JSON.parse(body) as Record<string, unknown>
      expect(document['issuer']).to.equal(own.issuer)
      for (const [name, value] of Object.entries(document))
        if (/_(endpoint|uri)$/.test(name)) expect(value, name).to.match(new RegExp(`^${own.issuer}/`))
      expect(JSON.stringify(document)).not.to.include('evil')
    }
  })

  for (const host of [
    'evil.example',
    'idp.dev.test.evil.example',
    '127.0.0.1.evil.example',
    '[::1]',
    '127.0.0.2',
    'localhost.',
    'a b',
    'x@localhost',
  ])
    it(`the host ${host}`, async () => {
      for (const path of ['/', '/healthz', '/.well-known/openid-configuration', '/token', '/interaction/x'])
        expect((await ask(path, { host })).status, path).to.equal(421)
    })

  for (const [what, target, hosts] of [
    ['names another site in its target', 'http://evil.example/', ['localhost']],
    ['has two hosts', '/', ['localhost', 'evil.example']],
    ['has two hosts in the other order', '/', ['evil.example', 'localhost']],
    ['has no host', '/', []],
  ] as const)
    it(`a request that ${what}`, async () => {
      const lines = [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `host: ${host}`), 'connection: close']
      const text = await new Promise<string>((resolve, reject) => {
        let received = ''
        const socket = connect(own.provider.port, '127.0.0.1', () => {
          socket.write(`${lines.join('\r\n')}\r\n\r\n`)
        })
        socket.on('data', (part: Buffer) => (received += part.toString()))
        socket.on('close', () => resolve(received))
        socket.on('error', reject)
      })
      expect(text).to.match(/^HTTP\/1.1 400 /)
    })

  it('a page at another of its hosts leads to the issuer, so that there is one session', async () => {
    const { status, headers } = await ask('/?x=1', { host: 'idp.dev.test', accept: 'text/html' })
    expect([status, headers['location']]).to.deep.equal([307, `${own.issuer}/?x=1`])
  })

  it('a form of another site, and a GET where something changes', async () => {
    const browser = new Browser(own.issuer)
    await browser.post('/sign-in', { sub: 'alice' })
    const { url } = await browser.get(
      (await authorization(await own.client(), { prompt: 'select_account' })).url,
    )
    const forms = ['/sign-in', '/sign-out', new URL(url).pathname, '/device', '/session/end/confirm']
    // The library accepts these forms, too.
    for (const path of [...forms, '/DEVICE', '/device/', '/Session/End/Confirm', '/session/end/confirm/'])
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: own.issuer.replace('http:', 'https:') },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ] as Record<string, string>[])
        expect((await browser.post(path, { sub: 'bob', logout: 'yes' }, headers)).status, path).to.equal(403)
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'TRACE'])
      expect((await ask('/sign-out', {}, method)).status, method).to.equal(405)
    for (const path of ['/', '/launchpad.json', '/healthz'])
      expect((await ask(path, form, 'POST', 'sub=bob')).status, path).to.equal(405)
    expect((await ask('/sign-in', form, 'PUT', 'sub=bob')).status).to.equal(405)
    expect((await ask('/sign-in?sub=bob')).status).to.equal(200)
    expect((await browser.get('/launchpad.json')).body).to.include('"sub":"alice"')
  })

  it('an interaction in another browser than the one that began it', async () => {
    const begun = await new Browser(own.issuer).get((await authorization(await own.client())).url)
    expect(begun.status).to.equal(200)
    const other = new Browser(own.issuer)
    expect((await other.get(begun.url)).status).to.equal(400)
    expect((await other.post(begun.url, { sub: 'alice' })).status).to.equal(400)
    await other.get((await authorization(await own.client())).url)
    expect((await other.post(begun.url, { sub: 'alice' })).status).to.equal(400)
  })

  for (const id of ['unknown', '', '__proto__', 'constructor', 'ord\u0000ers', 'Orders', 'o'.repeat(10_000)])
    it(`the client ${JSON.stringify(id.slice(0, 20))} at every endpoint`, async () => {
      const fields = new URLSearchParams({
        client_id: id,
        redirect_uri: REDIRECT,
        response_type: 'code',
        scope: 'openid',
      })
      const pages = [
        `/auth?${fields}`,
        `/session/end?client_id=${encodeURIComponent(id)}&post_logout_redirect_uri=${REDIRECT}`,
      ]
      for (const path of pages.slice(0, id === '' ? 1 : 2)) {
        const { status, headers } = await ask(path)
        expect(status, path.slice(0, 20)).to.be.within(400, 499)
        expect(headers).not.to.have.property('location')
      }
      const body = new URLSearchParams({
        client_id: id,
        client_secret: 'x',
        token: 'x',
        grant_type: 'refresh_token',
        refresh_token: 'x',
      })
      for (const path of ['/token', '/token/introspection', '/token/revocation', '/device/auth'])
        expect((await ask(path, form, 'POST', body.toString())).status, path).to.be.within(400, 499)
    })

  it('a redirect address that is not the registered one, without a redirect', async () => {
    for (const uri of [
      'http://localhost:3000/callback/',
      'http://localhost:3000/callback?a=1',
      'https://evil.example/',
      'javascript:alert(1)',
    ]) {
      const answer = await new Browser(own.issuer).get(
        (await authorization(await own.client(), { redirect_uri: uri })).url,
      )
      expect([answer.status, answer.headers.get('location')], uri).to.deep.equal([400, null])
    }
    const answer = await new Browser(own.issuer).get(
      (await authorization(await own.client(), { redirect_uri: 'http://localhost:4321/callback' })).url,
    )
    expect(answer.status).to.equal(200)
  })

  it('pages of other origins read the discovery document and the keys, and nothing else', async () => {
    const origin = 'http://localhost:3000'
    for (const path of ['/.well-known/openid-configuration', '/jwks'])
      expect((await ask(path, { origin })).headers['access-control-allow-origin']).to.equal(origin)
    for (const path of [
      '/token',
      '/token/introspection',
      '/token/revocation',
      '/me',
      '/device/auth',
      '/launchpad.json',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { headers, status } = await ask(
          path,
          { origin, ...form, 'access-control-request-method': 'POST' },
          method,
          method === 'POST' ? 'client_id=orders&client_secret=dev-secret-orders' : undefined,
        )
        expect(
          Object.keys(headers).filter((name) => name.startsWith('access-control-')),
          `${method} ${path}`,
        ).to.deep.equal([])
        if (method === 'OPTIONS') expect(status).to.equal(405)
      }
    }
  })

  it('every response has the headers that keep it out of frames and caches', async () => {
    for (const path of [
      '/',
      '/sign-in',
      '/launchpad.json',
      '/healthz',
      '/auth?client_id=x',
      '/device',
      '/nothing',
      '/session/end',
      '/jwks',
    ]) {
      const { headers } = await ask(path, { accept: 'text/html' })
      expect(headers['cache-control'], path).to.equal('no-store')
      expect(headers['x-frame-options'], path).to.equal('DENY')
      expect(headers['content-security-policy'], path)
        .to.include("default-src 'none'")
        .and.include("frame-ancestors 'none'")
        .and.not.include('script')
      expect(headers['x-content-type-options'], path).to.equal('nosniff')
    }
  })

  it('a page for devices in a browser that it does not know', async () => {
    for (const [path, method] of [
      ['/device/unknown', 'GET'],
      ['/device/auth', 'GET'],
      ['/device', 'POST'],
      ['/auth/unknown', 'GET'],
      ['/session/end/confirm', 'POST'],
    ] as const)
      expect(
        (await ask(path, { accept: 'text/html', ...form }, method, 'user_code=x')).status,
        path,
      ).to.equal(400)
  })

  it('names are escaped on every page', async () => {
    const hostile = `"><script>alert(1)</script>'`
    own.write(
      'idp-users.yaml',
      `- {sub: ${JSON.stringify(hostile)}, name: ${JSON.stringify(hostile)}, tenant: ${JSON.stringify(hostile)}, email: ${JSON.stringify(hostile)}}`,
    )
    own.write(
      'idp-clients.yaml',
      JSON.stringify([
        {
          client_id: 'orders',
          client_secret: 's',
          redirect_uris: [REDIRECT],
          tile: {
            name: hostile,
            description: hostile,
            icon_url: hostile,
            launch_url: `http://localhost:3000/${hostile}`,
          },
        },
        { client_id: hostile, redirect_uris: [hostile], unknown: hostile },
      ]),
    )
    const browser = new Browser(own.issuer)
    const config = await own.client('orders', 's')
    const texts = [
      (await browser.get('/')).body,
      (await browser.get('/sign-in')).body,
      (await browser.get((await authorization(config, { login_hint: hostile })).url)).body,
      (await browser.get(`/auth?client_id=${encodeURIComponent(hostile)}`)).body,
      (await browser.get(`/device?user_code=${encodeURIComponent(hostile)}`)).body,
      (await browser.get(`/session/end?client_id=orders&state=${encodeURIComponent(hostile)}`)).body,
      (await browser.post('/sign-in', { sub: hostile })).body,
    ]
    for (const text of texts) expect(text).not.to.include('<script').and.not.include('"><script')
    expect(texts[6]).to.include('Signed in as')
  })

  it('cookies are for this port, unreadable for scripts, and not sent from other sites', async () => {
    const { headers } = await call(
      { host: '127.0.0.1', port: own.provider.port, path: '/sign-in', method: 'POST', headers: form },
      new URLSearchParams({ sub: `"><script>alert(1)</script>'` }).toString(),
    )
    const cookies = headers['set-cookie'] as unknown as readonly string[]
    expect(cookies).to.have.length(2)
    for (const cookie of cookies)
      expect(cookie)
        .to.match(new RegExp(`^ashlar_idp_${own.provider.port}_session`))
        .and.match(/httponly/i)
        .and.match(/samesite=lax/i)
  })

  it('cookies of an issuer with https are secure and of its host alone, and its endpoints are there', async () => {
    const issuer = 'https://idp.dev.test:8443'
    const there = await ownProvider({ issuer })
    const at = {
      host: '127.0.0.1',
      port: there.provider.port,
      headers: { ...form, host: 'idp.dev.test:8443' },
    }
    const { headers } = await call({ ...at, path: '/sign-in', method: 'POST' }, 'sub=alice')
    for (const cookie of headers['set-cookie'] as unknown as readonly string[])
      expect(cookie)
        .to.match(/^__Host-ashlar_idp_8443_session.*; path=\/;.*secure/i)
        .and.not.match(/domain/i)
    const { body } = await call({ ...at, path: '/.well-known/openid-configuration' })
    expect(JSON.parse(body)).to.include({ issuer, token_endpoint: `${issuer}/token` })
    expect((await call({ ...at, path: '/healthz', headers: { host: '127.0.0.1' } })).status).to.equal(421)
    await there.close()
  })

  it('files of the state are for this user alone', () => {
    const folder = join(own.folder, 'state')
    expect(statSync(folder).mode & 0o777).to.equal(0o700)
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o600)
    expect(readFileSync(join(folder, 'keys.json'), 'utf8')).to.include('"kty":"RSA"')
  })
})
