import { expect } from 'chai'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createHash } from 'node:crypto'
import * as oauth from 'openid-client'
import { Browser } from '../support/browser.js'
import { authorization, ownProvider, type OwnProvider, REDIRECT, signIn } from '../support/own-provider.js'

describe('the flows, as openid-client runs them', () => {
  let own: OwnProvider
  let config: oauth.Configuration
  before(async () => {
    own = await ownProvider()
    config = await own.client()
  })
  after(() => own.close())

  const tokensOf = async (sub: string, parameters: Record<string, string> = {}) => {
    const { callback, checks } = await signIn(new Browser(own.issuer), config, sub, parameters)
    return oauth.authorizationCodeGrant(config, callback, checks)
  }

  it('a code gives an access token of RFC 9068 and an ID token that says who it is', async () => {
    const issued = await tokensOf('alice')
    expect(decodeProtectedHeader(issued.access_token)).to.include({ typ: 'at+jwt', alg: 'RS256' })
    const access = decodeJwt(issued.access_token)
    expect(access).to.include({
      iss: own.issuer,
      aud: 'orders',
      sub: 'alice',
      client_id: 'orders',
      tenant: 'acme',
    })
    expect(access['groups']).to.deep.equal(['staff', 'admin'])
    expect(String(access['scope']).split(' ')).to.have.members([
      'openid',
      'profile',
      'email',
      'read',
      'write',
    ])
    expect(access['auth_time']).to.be.a('number')
    const id = decodeJwt(issued.id_token ?? '')
    expect(id).to.include({ sub: 'alice', name: 'Alice Archer', email: 'alice@acme.test', aud: 'orders' })
    expect(id['amr']).to.deep.equal(['none'])
    expect(id['apps']).to.deep.equal(['orders', 'app'])
    expect(await oauth.fetchUserInfo(config, issued.access_token, 'alice')).to.include({
      name: 'Alice Archer',
    })
  })

  it('writes at_hash of the access token into ID tokens of a code and of a refresh', async () => {
    const first = await tokensOf('alice')
    const second = await oauth.refreshTokenGrant(config, first.refresh_token ?? '')
    for (const { access_token, id_token = '' } of [first, second])
      expect(decodeJwt(id_token)['at_hash']).to.equal(hashOf(access_token))
  })

  it("a user's scopes bound what is granted", async () => {
    const bob = decodeJwt((await tokensOf('bob')).access_token)
    expect(String(bob['scope']).split(' ')).to.include('read').and.not.include('write')
  })

  it('a request without PKCE, or with the plain method, is refused', async () => {
    for (const change of [{ code_challenge: '' }, { code_challenge_method: 'plain' }]) {
      const { url } = await authorization(config)
      const changed = new URL(url)
      for (const [name, value] of Object.entries(change))
        if (value === '') changed.searchParams.delete(name)
        else changed.searchParams.set(name, value)
      const answer = await new Browser(own.issuer).get(changed.href)
      expect(new URL(answer.url).searchParams.get('error')).to.equal('invalid_request')
    }
  })

  it('a code is redeemed with the redirect address, the client and the verifier of its request', async () => {
    const post = (fields: Record<string, string>) =>
      fetch(`${own.issuer}/token`, { method: 'POST', body: new URLSearchParams(fields) })
    const { callback, checks } = await signIn(new Browser(own.issuer), config, 'alice')
    const good = {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT,
      code_verifier: checks.pkceCodeVerifier ?? '',
      client_id: 'orders',
      client_secret: 'dev-secret-orders',
    }
    const { redirect_uri: _, ...withoutRedirect } = good
    const { code_verifier: __, ...withoutVerifier } = good
    for (const [fields, status] of [
      [withoutRedirect, 400],
      [{ ...good, redirect_uri: 'http://localhost:3001/callback' }, 400],
      [withoutVerifier, 400],
      [{ ...good, code_verifier: `${good.code_verifier.slice(1)}x` }, 400],
      [{ ...good, client_id: 'app', client_secret: 'dev-secret-app' }, 400],
      [{ ...good, client_secret: 'x' }, 401],
      [{ ...good, client_secret: '' }, 401],
      [{ ...good, code: 'x' }, 400],
      [{ ...good, grant_type: 'password' }, 400],
      [good, 200],
      [good, 400],
    ] as const)
      expect((await post(fields)).status, JSON.stringify(fields)).to.equal(status)
  })

  it('another audience is refused: it is always the client', async () => {
    const answer = await new Browser(own.issuer).get(
      (await authorization(config, { resource: 'https://other.example/' })).url,
    )
    expect(new URL(answer.url).searchParams.get('error')).to.equal('invalid_target')
  })

  it('refresh tokens rotate, and a reuse ends the family', async () => {
    const first = await tokensOf('alice')
    const second = await oauth.refreshTokenGrant(config, first.refresh_token ?? '')
    expect(second.refresh_token).to.be.a('string').and.not.equal(first.refresh_token)
    expect(decodeJwt(second.access_token)['auth_time']).to.equal(decodeJwt(first.access_token)['auth_time'])
    const refused = async (token: string | undefined) =>
      oauth.refreshTokenGrant(config, token ?? '').then(
        () => 'taken',
        (error: oauth.ResponseBodyError) => error.error,
      )
    expect(await refused(first.refresh_token)).to.equal('invalid_grant')
    expect(await refused(second.refresh_token)).to.equal('invalid_grant')
    expect(await oauth.tokenIntrospection(config, second.access_token)).to.deep.equal({ active: false })
  })

  it('of 24 redemptions of a code at the same time one gets tokens', async () => {
    const { callback, checks } = await signIn(new Browser(own.issuer), config, 'alice')
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, () => oauth.authorizationCodeGrant(config, callback, checks)),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
    const codes = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as oauth.ResponseBodyError).error] : [],
    )
    expect(new Set(codes)).to.deep.equal(new Set(['invalid_grant']))
  })

  it('of 24 uses of a refresh token at the same time at most one gets tokens', async () => {
    const { refresh_token = '' } = await tokensOf('alice')
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, () => oauth.refreshTokenGrant(config, refresh_token)),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
  })

  it('a device signs in by the code that a person types', async () => {
    const started = await oauth.initiateDeviceAuthorization(config, { scope: 'openid read' })
    const browser = new Browser(own.issuer)
    const form = (await browser.get(started.verification_uri)).body
    const xsrf = /name="xsrf" value="([\w-]+)"/.exec(form)?.[1] ?? ''
    const confirm = await browser.post('/device', { xsrf, user_code: started.user_code.toLowerCase() })
    expect(confirm.body).to.include(started.user_code).and.include('Orders')
    const chooser = await browser.post('/device', { xsrf, user_code: started.user_code, confirm: 'yes' })
    const done = await browser.post(chooser.url, { sub: 'carol' })
    expect(done.body).to.include('The device is signed in')
    const tokens = await oauth.pollDeviceAuthorizationGrant(config, { ...started, interval: 0.05 })
    expect(decodeJwt(tokens.access_token)).to.include({ sub: 'carol', tenant: 'globex', aud: 'orders' })
    expect(tokens.refresh_token).to.be.a('string')
    expect(decodeJwt(tokens.id_token ?? '')['at_hash']).to.equal(hashOf(tokens.access_token))
  })

  it('a device that polls too fast gets slow_down, each time with five seconds more to wait', async () => {
    let now = Date.now()
    const slow = await ownProvider({ now: () => now })
    const started = await oauth.initiateDeviceAuthorization(await slow.client(), { scope: 'openid' })
    const poll = async (afterSeconds: number) => {
      now += afterSeconds * 1000
      const body = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: started.device_code,
        ...{ client_id: 'orders', client_secret: 'dev-secret-orders' },
      })
      const response = await fetch(`${slow.issuer}/token`, { method: 'POST', body })
      return [response.status, ((await response.json()) as { error?: string }).error]
    }
    const pending = [400, 'authorization_pending']
    const tooFast = [400, 'slow_down']
    for (const [seconds, expected] of [
      ...([
        [0, pending],
        [5, pending],
        [4, tooFast],
        [5, tooFast],
        [15, pending],
      ] as const),
      ...([
        [14, tooFast],
        [19, tooFast],
        [25, pending],
      ] as const),
    ])
      expect(await poll(seconds), `after ${seconds} s`).to.deep.equal(expected)
    await slow.close()
  })

  it('a device waits, and learns that it was denied', async () => {
    const poll = async (device_code: string, id = 'orders') => {
      const response = await fetch(`${own.issuer}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code },
          ...{ client_id: id, client_secret: `dev-secret-${id}` },
        }),
      })
      return [response.status, ((await response.json()) as { error?: string }).error]
    }
    const { device_code, user_code } = await oauth.initiateDeviceAuthorization(config, { scope: 'openid' })
    expect(await poll(device_code)).to.deep.equal([400, 'authorization_pending'])
    expect(await poll(device_code, 'app')).to.deep.equal([400, 'invalid_grant'])
    expect(await poll('unknown')).to.deep.equal([400, 'invalid_grant'])
    const browser = new Browser(own.issuer)
    const xsrf = /name="xsrf" value="([\w-]+)"/.exec((await browser.get('/device')).body)?.[1] ?? ''
    expect((await browser.post('/device', { xsrf, user_code, abort: 'yes' })).body).to.include(
      'The device was not signed in.',
    )
    expect(await poll(device_code)).to.deep.equal([400, 'access_denied'])
    expect(await poll(device_code)).to.deep.equal([400, 'invalid_grant'])
  })

  it('introspection, revocation and userinfo know an access token, and nothing that looks like one', async () => {
    const { access_token, id_token = '', refresh_token = '' } = await tokensOf('alice')
    const authorizationHeader = `Basic ${Buffer.from('orders:dev-secret-orders').toString('base64')}`
    const userinfo = async (token: string) =>
      (await fetch(`${own.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })).status
    const introspected = async (token: string, path = '/token/introspection') => {
      const response = await fetch(`${own.issuer}${path}`, {
        method: 'POST',
        headers: { authorization: authorizationHeader },
        body: new URLSearchParams({ token }),
      })
      return ((await response.json()) as { active: boolean }).active
    }
    expect(await userinfo(access_token)).to.equal(200)
    expect(await introspected(access_token, '/Token/Introspection/')).to.equal(true)
    expect(await introspected(refresh_token)).to.equal(true)
    const [header = '', payload = '', signature = ''] = access_token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    for (const token of [
      ...[id_token, 'x', 'a.b.c', `${none}.${payload}.`, `${none}.${payload}.${signature}`],
      ...[`${header}.${payload}.${signature.slice(1)}`, header, `jwt~${access_token}`],
    ]) {
      expect(await userinfo(token), token).to.equal(401)
      if (!token.startsWith('jwt~')) expect(await introspected(token), token).to.equal(false)
    }
    expect(await userinfo(refresh_token)).to.equal(401)
    expect((await fetch(`${own.issuer}/me`)).status).to.equal(401)
  })

  it('introspection and revocation take access tokens and refresh tokens', async () => {
    const { access_token, refresh_token = '' } = await tokensOf('alice')
    const active = await oauth.tokenIntrospection(config, access_token)
    expect(active).to.include({
      active: true,
      sub: 'alice',
      tenant: 'acme',
      client_id: 'orders',
      aud: 'orders',
    })
    await oauth.tokenRevocation(config, access_token)
    expect(await oauth.tokenIntrospection(config, access_token)).to.deep.equal({ active: false })
    const userinfo = await oauth.fetchUserInfo(config, access_token, 'alice').catch((error: unknown) => error)
    expect(userinfo).to.be.instanceOf(Error)
    const again = await tokensOf('alice')
    await oauth.tokenRevocation(config, again.refresh_token ?? refresh_token)
    expect(await oauth.tokenIntrospection(config, again.access_token)).to.deep.equal({ active: false })
  })

  it('another client sees and revokes nothing', async () => {
    const { access_token } = await tokensOf('alice')
    const other = await own.client('app', 'dev-secret-app')
    expect(await oauth.tokenIntrospection(other, access_token)).to.deep.equal({ active: false })
    await oauth.tokenRevocation(other, access_token)
    expect(await oauth.tokenIntrospection(config, access_token)).to.include({ active: true })
  })

  it('a client without a secret is public: it needs none, and a secret is refused', async () => {
    const spa = await own.client('spa', '')
    const redirect_uri = 'https://spa.dev.test/callback'
    const { callback, checks } = await signIn(new Browser(own.issuer), spa, 'alice', { redirect_uri })
    expect((await oauth.authorizationCodeGrant(spa, callback, checks)).access_token).to.be.a('string')
    for (const secret of ['', 'dev-secret-spa']) {
      const response = await fetch(`${own.issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`spa:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x' }),
      })
      expect(response.status, secret).to.be.oneOf([400, 401])
    }
  })

  it('prompt=none uses the session of the launchpad, select_account asks, and sign-out ends it', async () => {
    const browser = new Browser(own.issuer)
    await browser.post('/sign-in', { sub: 'bob' })
    expect((await browser.get('/')).body).to.include('Bob Baker')
    const silent = await signIn(browser, config, '', { prompt: 'none' })
    const tokens = await oauth.authorizationCodeGrant(config, silent.callback, silent.checks)
    expect(decodeJwt(tokens.access_token).sub).to.equal('bob')
    const asked = await browser.get((await authorization(config, { prompt: 'select_account' })).url)
    expect(asked.body).to.include('name="sub" value="carol"')
    const switched = await browser.post(asked.url, { sub: 'carol' })
    expect(new URL(switched.url).origin).to.equal('http://localhost:3000')
    expect((await browser.get('/')).body).to.include('Carol Cook')
    expect(await oauth.tokenIntrospection(config, tokens.access_token)).to.deep.equal({ active: false })
    await browser.post('/sign-out', {})
    const none = await browser.get((await authorization(config, { prompt: 'none' })).url)
    expect(new URL(none.url).searchParams.get('error')).to.equal('login_required')
  })

  it('a client signs out by a page that asks, and goes to an address of its own origin only', async () => {
    const browser = new Browser(own.issuer)
    const { callback, checks } = await signIn(browser, config, 'alice')
    const { id_token = '' } = await oauth.authorizationCodeGrant(config, callback, checks)
    const end = (post_logout_redirect_uri: string) =>
      browser.get(
        oauth.buildEndSessionUrl(config, { id_token_hint: id_token, post_logout_redirect_uri, state: 's' })
          .href,
      )
    expect((await end('https://evil.example/')).status).to.equal(400)
    const page = await end('http://localhost:3000/bye')
    expect(page.body).to.include('name="logout" value="yes"')
    const xsrf = /name="xsrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
    const away = await browser.post('/session/end/confirm', { xsrf, logout: 'yes' })
    expect(away.url).to.equal('http://localhost:3000/bye?state=s')
    expect((await browser.get('/launchpad.json')).body).to.include('"user":null')
  })
})

/** OpenID Connect Core, 3.1.3.6, for RS256. */
const hashOf = (token: string): string =>
  createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url')
