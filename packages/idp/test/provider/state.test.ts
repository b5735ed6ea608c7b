import { expect } from 'chai'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as oauth from 'openid-client'
import { STARTER_USERS } from '../../lib/users/users-file.js'
import { callControl } from '../../lib/control/call-control.js'
import { controlSocketOf } from '../../lib/control/control-address.js'
import { Browser } from '../support/browser.js'
import { authorization, ownProvider, type OwnProvider, signIn } from '../support/own-provider.js'

describe('what the provider remembers', () => {
  let own: OwnProvider
  const { now: realNow } = Date
  let now = realNow()
  beforeEach(async () => {
    now = realNow()
    // The library of the provider has no clock of its own.
    Date.now = () => now
    own = await ownProvider({ now: () => now })
  })
  afterEach(async () => {
    Date.now = realNow
    await own.close()
  })

  const signedIn = async (sub: string) => {
    const browser = new Browser(own.issuer)
    const config = await own.client()
    const { callback, checks } = await signIn(browser, config, sub)
    return { browser, config, tokens: await oauth.authorizationCodeGrant(config, callback, checks) }
  }

  it('survives a restart: sessions, refresh tokens, access tokens and keys', async () => {
    const { browser, config, tokens } = await signedIn('alice')
    await own.restart()
    expect((await browser.get('/launchpad.json')).body).to.include('"sub":"alice"')
    expect(await oauth.tokenIntrospection(config, tokens.access_token)).to.include({ active: true })
    const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(decodeProtectedHeader(renewed.access_token).kid).to.equal(
      decodeProtectedHeader(tokens.access_token).kid,
    )
    await own.restart()
    const reused = await oauth
      .refreshTokenGrant(config, tokens.refresh_token ?? '')
      .catch((error: unknown) => error)
    expect(reused).to.be.instanceOf(oauth.ResponseBodyError)
  })

  it('keys rotate and the provider restarts while sessions live, and every session continues', async () => {
    const { browser, config, tokens } = await signedIn('alice')
    let held = [tokens.access_token]
    const signers = new Set<string | undefined>()
    let refresh = tokens.refresh_token ?? ''
    const check = async () => {
      const { callback, checks } = await signIn(browser, config, '', { prompt: 'none' })
      held.push((await oauth.authorizationCodeGrant(config, callback, checks)).access_token)
      const renewed = await oauth.refreshTokenGrant(config, refresh)
      refresh = renewed.refresh_token ?? ''
      held.push(renewed.access_token)
      for (const token of held) {
        const userinfo = await fetch(`${own.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })
        expect(userinfo.status).to.equal(200)
        signers.add(decodeProtectedHeader(token).kid)
      }
      expect((await browser.get('/launchpad.json')).body).to.include('"sub":"alice"')
    }
    await check()
    for (let round = 0; round < 3; round++) {
      now += 601_000
      // The tokens of before have expired.
      held = []
      await check()
      await callControl(controlSocketOf(join(own.folder, 'state')), '/rotate', {})
      await check()
      await own.restart()
      await check()
    }
    expect(signers.size).to.equal(4)
  })

  it('a state that is damaged is put aside, and the provider starts', async () => {
    await signedIn('alice')
    await own.provider.close()
    for (const name of ['state.json', 'keys.json'])
      writeFileSync(join(own.folder, 'state', name), '{"keys": [')
    await own.restart()
    const { tokens } = await signedIn('bob')
    expect(decodeJwt(tokens.access_token).sub).to.equal('bob')
  })

  it('keys are published before they sign, and kept while tokens live', async () => {
    const kids = async () => {
      const { keys } = (await (await fetch(`${own.issuer}/jwks`)).json()) as {
        keys: readonly { kid: string; d?: string }[]
      }
      for (const key of keys) expect(key).not.to.have.property('d')
      return keys.map(({ kid }) => kid)
    }
    const rotate = () => callControl(controlSocketOf(join(own.folder, 'state')), '/rotate', {})
    const [first, second] = await kids()
    const before = await signedIn('alice')
    expect(decodeProtectedHeader(before.tokens.access_token).kid).to.equal(first)
    expect(await rotate().catch((error: unknown) => (error as Error).message)).to.match(
      /the next key was published 0 s ago: .* try again in 600 s/,
    )
    now += 599_000
    const last = await signedIn('bob')
    now += 1_000
    await rotate()
    expect(await kids())
      .to.have.length(3)
      .and.include.members([first, second])
    const after = await signedIn('alice')
    expect(decodeProtectedHeader(after.tokens.access_token).kid).to.equal(second)
    expect(await oauth.tokenIntrospection(after.config, last.tokens.access_token)).to.include({
      active: true,
    })
    expect((await before.browser.get('/launchpad.json')).body).to.include('"sub":"alice"')
    now += 15 * 24 * 60 * 60 * 1000
    await rotate()
    expect(await kids()).not.to.include(first)
  })

  it('keys rotate after a clock that was ahead has come back', async () => {
    const rotate = () => callControl(controlSocketOf(join(own.folder, 'state')), '/rotate', {})
    now += 4 * 365 * 24 * 60 * 60 * 1000
    await rotate()
    now = realNow()
    await own.restart()
    now += 600_000
    await rotate()
    const { tokens, config } = await signedIn('alice')
    expect(await oauth.tokenIntrospection(config, tokens.access_token)).to.include({ active: true })
  })

  it("a removed user's sessions and tokens end, and do not come back with the user", async () => {
    const { browser, config, tokens } = await signedIn('alice')
    own.write('idp-users.yaml', STARTER_USERS.replace('sub: alice', 'sub: other'))
    expect(await oauth.tokenIntrospection(config, tokens.access_token)).to.deep.equal({ active: false })
    expect((await browser.get('/launchpad.json')).body).to.include('"user":null')
    own.write('idp-users.yaml', STARTER_USERS)
    expect((await browser.get('/launchpad.json')).body).to.include('"user":null')
    const renewed = await oauth
      .refreshTokenGrant(config, tokens.refresh_token ?? '')
      .catch((error: unknown) => error)
    expect(renewed).to.be.instanceOf(oauth.ResponseBodyError)
  })

  it('users and clients are read live, and a broken edit keeps the last good set', async () => {
    const { browser, config, tokens } = await signedIn('alice')
    own.write('idp-users.yaml', `${STARTER_USERS.replace('acme\n', 'initech\n')}- sub: dora\n`)
    expect(
      decodeJwt((await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '')).access_token)['tenant'],
    ).to.equal('initech')
    own.write('idp-users.yaml', '- sub: [')
    const page = await browser.get('/')
    expect(page.body).to.include('role="status"').and.include('idp-users.yaml').and.include('Alice Archer')
    expect((await browser.get('/sign-in')).body).to.include('dora')
    own.write(
      'idp-clients.yaml',
      '- client_id: late\n  client_secret: s\n  redirect_uris: [http://localhost:3000/callback]\n',
    )
    const late = await own.client('late', 's')
    expect((await browser.get((await authorization(late)).url)).url).to.match(
      /^http:\/\/localhost:3000\/callback\?code=/,
    )
    own.write('idp-clients.local.yaml', '- client_id: late\n  client_secret: other\n')
    const refused = await fetch(`${own.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: 'late',
        client_secret: 's',
        grant_type: 'refresh_token',
        refresh_token: 'x',
      }),
    })
    expect(refused.status).to.equal(401)
  })

  it('scopes of a user that were taken away are not in the next token', async () => {
    const { config, tokens } = await signedIn('alice')
    own.write('idp-users.yaml', STARTER_USERS.replace('scopes: [read, write]', 'scopes: [read]'))
    const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(String(decodeJwt(renewed.access_token)['scope']).split(' '))
      .to.include('read')
      .and.not.include('write')
  })

  it('a token without a browser is as one with it, for a user and a client that exist', async () => {
    const socket = controlSocketOf(join(own.folder, 'state'))
    const ask = (body: object) =>
      callControl<{ access_token: string }>(socket, '/token', body).then(
        ({ access_token }) => decodeJwt(access_token),
        (error: unknown) => (error as Error).message,
      )
    expect(await ask({ user: 'bob', client: 'orders' })).to.include({
      sub: 'bob',
      aud: 'orders',
      tenant: 'acme',
      scope: 'openid read',
    })
    expect(await ask({ user: 'bob', client: 'orders', scope: 'write' })).to.include(
      'bob may not have the scope write',
    )
    expect(await ask({ user: 'nobody', client: 'orders' })).to.include(
      'there is no user "nobody": there are alice, bob, carol',
    )
    expect(await ask({ user: 'bob', client: 'x' })).to.include('there is no client "x"')
  })

  it('what strangers begin does not push out who is signed in, and is bounded', async () => {
    const { browser } = await signedIn('alice')
    const config = await own.client()
    const { url } = await authorization(config)
    const heap = () => (globalThis.gc?.(), process.memoryUsage().heapUsed)
    for (let at = 0; at < 20; at++) await fetch(url, { redirect: 'manual' })
    const began = heap()
    const long = new URL(url)
    long.searchParams.set('state', 's'.repeat(2_000))
    for (let round = 0; round < (process.env['ASHLAR_DRILL'] === '1' ? 600 : 6); round++)
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const response = await fetch(at % 5 === 0 ? `${own.issuer}/device` : long, { redirect: 'manual' })
          await response.arrayBuffer()
        }),
      )
    expect((await browser.get('/launchpad.json')).body).to.include('"sub":"alice"')
    expect(heap() - began).to.be.below(64 << 20)
  })
})
