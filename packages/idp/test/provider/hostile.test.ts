import { expect } from 'chai'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import * as oauth from 'openid-client'
import { Removals } from '../../lib/provider/removals.js'
import { adapterOf } from '../../lib/state/adapter.js'
import { openState } from '../../lib/state/state-file.js'
import { usersFile } from '../../lib/users/users-file.js'
import { Browser } from '../support/browser.js'
import { call } from '../support/own-edge.js'
import { authorization, ownProvider, type OwnProvider, signIn } from '../support/own-provider.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a hostile client of the provider', () => {
  let own: OwnProvider
  const warnings: string[] = []
  beforeEach(async () => {
    warnings.length = 0
    own = await ownProvider({ warn: (text) => warnings.push(text) })
  })
  afterEach(() => own.close())

  const post = (path: string, body: string) =>
    call({ host: '127.0.0.1', port: own.provider.port, path, method: 'POST', headers: FORM }, body)
  const opened = async (): Promise<Socket> => {
    const socket = connect(own.provider.port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }

  it('sends a form of 28,000 fields, which is read in one pass', async () => {
    // Compared with each other, the fields of these would take minutes.
    for (let at = 0; at < 40; at++) expect((await post('/sign-in', 'a&'.repeat(28_000))).status).to.equal(400)
  })

  it('sends a field twice: it counts as not there', async () => {
    expect((await post('/sign-in', 'sub=alice&sub=bob')).status).to.equal(400)
    expect((await post('/sign-in', 'sub=alice&x=1&x=2')).status).to.equal(303)
  })

  it('sends a body that is too large, and hears so', async () => {
    for (const path of ['/sign-in', '/token/introspection'])
      expect((await post(path, 'a'.repeat(1 << 20))).status, path).to.equal(413)
    expect(warnings).to.deep.equal([])
  })

  it('goes in the middle of its request: nothing is printed', async () => {
    for (const path of ['/sign-in', '/token', '/token/introspection', '/session/end/confirm']) {
      const socket = await opened()
      socket.end(
        `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n\r\nsub=`,
      )
      await once(socket.resume(), 'close')
    }
    await fetch(`${own.issuer}/healthz`)
    expect(warnings).to.deep.equal([])
  })

  it('holds 500 connections: further ones are closed, and it is served again when they end', async () => {
    const held = await Promise.all(Array.from({ length: 500 }, opened))
    const further = await opened()
    await once(further.resume(), 'close')
    const ended = held.map((socket) => once(socket.resume().end(), 'close'))
    await Promise.all(ended)
    expect((await fetch(`${own.issuer}/healthz`)).status).to.equal(200)
  })

  it('uses a session while it ends: it stays ended', async () => {
    const config = await own.client()
    for (let round = 0; round < 5; round++) {
      const browser = new Browser(own.issuer)
      await browser.post('/sign-in', { sub: 'alice' })
      const uses = Array.from({ length: 6 }, async () =>
        browser.get((await authorization(config, { prompt: 'none' })).url),
      )
      await Promise.all([...uses, browser.post('/sign-out', {})])
      expect((await browser.get('/launchpad.json')).body).to.include('"user":null')
    }
  })

  it('saves a session that has ended: it is not there', async () => {
    const folder = join(own.folder, 'sessions')
    const now = () => Math.floor(Date.now() / 1000)
    const state = openState(folder, now, () => {})
    const sources = { client: () => undefined, accessToken: () => Promise.resolve(undefined) }
    const sessions = adapterOf(state, now, sources)('Session')
    const payload = { accountId: 'alice', uid: 'u' }
    await sessions.upsert('one', payload, 60)
    expect(await sessions.find('one')).to.deep.equal(payload)
    await sessions.destroy('one')
    await sessions.upsert('one', payload, 60)
    expect([await sessions.find('one'), await sessions.findByUid('u')]).to.deep.equal([undefined, undefined])
    const users = usersFile(join(own.folder, 'idp-users.yaml'), 'users')
    const removals = new Removals(state, users, now)
    removals.end()
    await sessions.upsert('two', { ...payload, jti: 'two' }, 60)
    own.write('idp-users.yaml', '[]')
    removals.end()
    await sessions.upsert('two', { ...payload, jti: 'two' }, 60)
    expect(await sessions.find('two')).to.equal(undefined)
  })

  it('gives an access token where an ID token is asked for (RFC 9068 section 5)', async () => {
    const config = await own.client()
    const { callback, checks } = await signIn(new Browser(own.issuer), config, 'alice')
    const { access_token, id_token = '' } = await oauth.authorizationCodeGrant(config, callback, checks)
    const statusAt = async (hint: string) => [
      (await new Browser(own.issuer).get(`/session/end?id_token_hint=${hint}`)).status,
      (await new Browser(own.issuer).get((await authorization(config, { id_token_hint: hint })).url)).status,
    ]
    expect(await statusAt(access_token)).to.deep.equal([400, 303])
    expect(await statusAt(id_token)).to.deep.equal([200, 200])
  })
})
