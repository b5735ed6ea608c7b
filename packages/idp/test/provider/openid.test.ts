import { expect } from 'chai'
import { EventEmitter, once } from 'node:events'
import * as oauth from 'openid-client'
import { Browser } from '../support/browser.js'
import { authorization, CLIENTS, ownProvider, type OwnProvider, signIn } from '../support/own-provider.js'

describe('OpenID Connect Core at the provider', () => {
  let own: OwnProvider
  let config: oauth.Configuration
  const log = new EventEmitter()
  before(async () => {
    own = await ownProvider({ warn: (text) => log.emit('warning', text) })
    config = await own.client()
  })
  after(() => own.close())

  const signedIn = async () => {
    const browser = new Browser(own.issuer)
    await browser.post('/sign-in', { sub: 'alice' })
    return browser
  }
  const tokensFor = async (parameters: Record<string, string>, checks: object = {}) => {
    const { callback, checks: own } = await signIn(
      new Browser(config.serverMetadata().issuer),
      config,
      'alice',
      parameters,
    )
    return oauth.authorizationCodeGrant(config, callback, { ...own, ...checks })
  }

  describe('the authorization endpoint (3.1.2.1)', () => {
    const CROSS_SITE = { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }

    it('takes a request that an app posts as it takes one of GET', async () => {
      for (const headers of [CROSS_SITE, { ...CROSS_SITE, origin: 'null' }]) {
        const { url, checks } = await authorization(config)
        const fields = Object.fromEntries(new URL(url).searchParams)
        const { url: callback } = await (await signedIn()).post('/auth', fields, headers)
        const tokens = await oauth.authorizationCodeGrant(config, new URL(callback), checks)
        expect(tokens.claims()?.sub).to.equal('alice')
      }
      const { url } = await authorization(config)
      const page = await new Browser(own.issuer).post(
        '/AUTH/',
        Object.fromEntries(new URL(url).searchParams),
        CROSS_SITE,
      )
      expect([page.status, page.body.includes('Who do you want to be?')]).to.deep.equal([200, true])
      const large = await new Browser(own.issuer).post('/auth', { x: 'x'.repeat(9_000) }, CROSS_SITE)
      expect(large.status).to.equal(413)
    })

    it('ends a session by a form that an app posts', async () => {
      const { id_token = '' } = await tokensFor({})
      const page = await (await signedIn()).post('/session/end', { id_token_hint: id_token }, CROSS_SITE)
      expect(page.body).to.include('Do you want to sign out?')
    })

    it('rejects parameters that are sent twice, by GET and by POST', async () => {
      for (const name of [
        'client_id',
        'redirect_uri',
        'scope',
        'state',
        'nonce',
        'prompt',
        'max_age',
        'login_hint',
      ]) {
        const { url } = await authorization(config)
        const twice = new URL(url)
        for (const value of ['0', '1']) twice.searchParams.append(name, value)
        const posted = new URL(await redirectOf(twice))
        for (const one of [twice, posted]) {
          const { status, url: end } = await (await signedIn()).get(one.href)
          const error = new URL(end).searchParams.get('error')
          expect(status === 400 || error === 'invalid_request', name).to.equal(true)
        }
      }
    })

    const redirectOf = async ({ origin, pathname, search }: URL): Promise<string> => {
      const init = { method: 'POST', redirect: 'manual', body: new URLSearchParams(search) } as const
      return (await fetch(origin + pathname, init)).headers.get('location') ?? ''
    }

    for (const [parameters, error] of [
      [{ prompt: 'none login' }, 'invalid_request'],
      [{ prompt: 'other' }, 'invalid_request'],
      [{ max_age: '-1' }, 'invalid_request'],
      [{ max_age: '1.5' }, 'invalid_request'],
      [{ id_token_hint: 'x' }, 'invalid_request'],
      [{ request: 'x' }, 'request_not_supported'],
      [{ request_uri: 'https://a.test/' }, 'request_uri_not_supported'],
      [{ registration: '{}' }, 'registration_not_supported'],
      [{ response_mode: 'other' }, 'unsupported_response_mode'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ prompt: 'none', max_age: '0' }, 'login_required'],
    ] as const)
      it(`responds to ${JSON.stringify(parameters)} with ${error}`, async () => {
        const { url } = await authorization(config, parameters)
        const { searchParams, hash } = new URL((await (await signedIn()).get(url)).url)
        expect(searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error')).to.equal(error)
      })

    for (const parameters of [
      { prompt: '', max_age: '', nonce: '', display: '' },
      { display: 'popup', ui_locales: 'de fr', claims_locales: 'de', acr_values: '0' },
      { login_hint: 'nobody', other: 'x', claims: 'x', max_age: '1000' },
      { response_mode: 'query' },
      { response_mode: 'fragment' },
    ])
      it(`accepts ${JSON.stringify(parameters)} without a question`, async () => {
        const { url } = await authorization(config, parameters)
        const { searchParams, hash } = new URL((await (await signedIn()).get(url)).url)
        expect(searchParams.get('code') ?? new URLSearchParams(hash.slice(1)).get('code')).to.be.a('string')
      })

    for (const parameters of [
      { prompt: 'login' },
      { prompt: 'consent' },
      { prompt: 'select_account' },
      { prompt: 'login consent select_account' },
      { max_age: '0' },
      { prompt: 'consent', scope: 'openid offline_access' },
    ])
      it(`asks the person for ${JSON.stringify(parameters)}, and then issues a code`, async () => {
        const { url } = await authorization(config, parameters)
        const browser = await signedIn()
        let page = await browser.get(url)
        let questions = 0
        for (; page.status === 200 && questions < 4; questions++)
          page = await browser.post(
            page.url,
            page.body.includes('name="consent"') ? { consent: 'yes' } : { sub: 'alice' },
          )
        expect(questions).to.be.within(1, 3)
        expect(new URL(page.url).searchParams.get('code')).to.be.a('string')
      })

    it('with the ID token of another person and prompt=none responds with login_required', async () => {
      const { id_token = '' } = await tokensFor({})
      const browser = new Browser(own.issuer)
      await browser.post('/sign-in', { sub: 'bob' })
      const { url } = await authorization(config, { prompt: 'none', id_token_hint: id_token })
      expect(new URL((await browser.get(url)).url).searchParams.get('error')).to.equal('login_required')
    })

    it('returns the nonce and the time of the sign-in in the ID token', async () => {
      const parameters = { nonce: 'n', max_age: '100' }
      const claims = (await tokensFor(parameters, { expectedNonce: 'n', maxAge: 100 })).claims()
      expect(claims).to.include({ nonce: 'n', sub: 'alice' })
      expect(claims?.auth_time).to.be.a('number')
    })
  })

  describe('claims of scopes (5.4)', () => {
    for (const [scope, expected] of [
      ['openid', {}],
      ['openid profile', { name: 'Alice Archer' }],
      ['openid email', { email: 'alice@acme.test' }],
      ['openid profile email', { name: 'Alice Archer', email: 'alice@acme.test' }],
    ] as const)
      it(`userinfo and the ID token of "${scope}" contain ${Object.keys(expected).join(' and ') || 'neither name nor email'}`, async () => {
        const tokens = await tokensFor({ scope })
        const info = await oauth.fetchUserInfo(config, tokens.access_token, 'alice')
        for (const claims of [info, tokens.claims() ?? {}]) {
          const { sub, name, email } = claims as Record<string, unknown>
          const found = Object.entries({ name, email }).filter(([, value]) => value !== undefined)
          expect([sub, Object.fromEntries(found)]).to.deep.equal(['alice', expected])
        }
      })

    it('userinfo requires the scope openid', async () => {
      const { access_token } = await tokensFor({ scope: 'profile' })
      const headers = { authorization: `Bearer ${access_token}` }
      const response = await fetch(`${own.issuer}/me`, { headers })
      expect([
        response.status,
        response.headers.get('www-authenticate')?.includes('insufficient_scope'),
      ]).to.deep.equal([403, true])
    })
  })

  it('keeps its clients if an edit breaks their file, and the log says why', async () => {
    for (const [text, why] of [
      ['', 'not a list of clients'],
      [`${CLIENTS}- client_id: [x]\n`, 'it has no client_id'],
    ] as const) {
      const warned = once(log, 'warning')
      own.write('idp-clients.yaml', text)
      expect(String(await warned)).to.include(why)
      expect((await tokensFor({})).claims()?.sub).to.equal('alice')
    }
    own.write('idp-clients.yaml', CLIENTS)
  })
})
