import { startProvider, type RunningProvider } from 'ashlar-idp'
import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { Metadata } from '../../../lib/call.js'
import { SignIn } from '../../../examples/sign-in/sign-in.js'
import { oidc } from '../../../lib/index.js'
import { recordingLogger } from '../../support/servers/server.js'

const credentials = {
  ...{ metadata: new Metadata(), peer: '', signal: new AbortController().signal },
  logger: recordingLogger(),
}

const ORIGIN = 'http://localhost:3000'

describe('oidc() and the provider of this machine', () => {
  let folder: string
  let provider: RunningProvider
  let now = Date.now()
  const start = (port: number) =>
    startProvider({
      port,
      now: () => now,
      warn: () => {},
      clients: join(folder, 'idp-clients.yaml'),
      users: join(folder, 'idp-users.yaml'),
      state: join(folder, 'state'),
    })
  const { now: real } = Date
  before(async () => {
    // The library of the provider has no clock of its own.
    Date.now = () => now
    folder = mkdtempSync(join(tmpdir(), 'ashlar-tokens-'))
    provider = await start(0)
  })
  after(async () => {
    await provider.close()
    rmSync(folder, { recursive: true, force: true })
    Date.now = real
  })

  const authenticator = (audience = 'app') =>
    oidc({ issuer: provider.issuer, audience, now: () => new Date(now) })
  const token = (user = 'alice') => provider.token({ user, client: 'app' })
  const verdict = (text: string, by = authenticator()) =>
    by.authenticate(text, credentials).then(
      ({ subject }) => subject,
      () => 'refused',
    )

  it('accepts what it issues, with tenant, groups and scopes', async () => {
    expect(await authenticator().authenticate(await token(), credentials)).to.deep.include({
      ...{ subject: 'alice', tenant: 'acme' },
      ...{ groups: ['staff', 'admin'], scopes: ['openid', 'read', 'write'] },
    })
  })

  it('rejects the ID token of a code flow without a nonce, and the page sends one', async () => {
    const page = new SignIn({ issuer: provider.issuer, clientId: 'app', clientSecret: 'x', origin: ORIGIN })
    const sent = new URL((await page.begin()).headers.get('location') ?? '').searchParams
    expect(sent.get('nonce')).to.match(/^[\w-]{43}$/)
    const tokens = await signedIn(provider.issuer)
    expect(decodeJwt(tokens.id_token)).not.to.have.property('nonce')
    expect(await verdict(tokens.access_token)).to.equal('alice')
    expect(await verdict(tokens.id_token)).to.equal('refused')
  })

  it('refuses 20 tampered variants', async () => {
    const good = await token()
    const [header = '', payload = '', signature = ''] = good.split('.')
    const claims = decodeJwt(good)
    const head = decodeProtectedHeader(good)
    const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const forged = (payloadOf: object, headerOf: object = {}) =>
      new SignJWT({ ...claims, ...payloadOf })
        .setProtectedHeader({ ...head, alg: 'RS256', ...headerOf })
        .sign(privateKey)
    const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
    const variants: readonly string[] = [
      `${header}.${json({ ...claims, tenant: 'globex' })}.${signature}`,
      `${header}.${json({ ...claims, sub: 'bob' })}.${signature}`,
      `${header}.${json({ ...claims, exp: 9_999_999_999 })}.${signature}`,
      `${json({ ...head, alg: 'none' })}.${payload}.`,
      `${json({ ...head, alg: 'none' })}.${payload}.${signature}`,
      `${json({ ...head, alg: 'HS256' })}.${payload}.${signature}`,
      `${json({ ...head, kid: 'other' })}.${payload}.${signature}`,
      `${json({ ...head, typ: 'JWT' })}.${payload}.${signature}`,
      `${header}.${payload}.${flipped(signature)}`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${good}.${signature}`,
      `${good}=`,
      ` ${good}`,
      await forged({}),
      await forged({ tenant: 'globex' }),
      await forged({}, { jwk: await exportJWK(publicKey) }),
      await forged({}, { jku: 'http://127.0.0.1:1/jwks', kid: 'x' }),
      await forged({ iss: 'http://127.0.0.1:1' }),
    ]
    expect(variants).to.have.length(20)
    for (const [index, variant] of variants.entries())
      expect(await verdict(variant), `variant ${index}`).to.equal('refused')
    expect(await verdict(good, authenticator('other'))).to.equal('refused')
    expect(await verdict(good)).to.equal('alice')
  })

  it('keys rotate and the provider restarts without one refused token', async () => {
    const by = authenticator()
    const held: string[] = []
    const signers = new Set<string | undefined>()
    const check = async () => {
      held.push(await token())
      for (const one of held) {
        expect(await verdict(one, by)).to.equal('alice')
        signers.add(decodeProtectedHeader(one).kid)
      }
    }
    await check()
    for (let round = 0; round < 2; round++) {
      now += 601_000
      // The tokens of before have expired.
      held.length = 0
      await check()
      await rotate(join(folder, 'state', 'control.sock'))
      await check()
      await provider.close()
      provider = await start(provider.port)
      await check()
    }
    expect(signers.size).to.equal(3)
  })
})

const rotate = (socketPath: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request({ socketPath, path: '/rotate', method: 'POST', agent: false }, (response) => {
      response.resume()
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(String(response.statusCode))),
      )
    })
    call.on('error', reject)
    call.end('{}')
  })

/** The tokens of a code flow that sends no nonce. */
async function signedIn(
  issuer: string,
): Promise<{ readonly access_token: string; readonly id_token: string }> {
  const jar = new Map<string, string>()
  const go = async (path: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string> | undefined), cookie }
    const response = await fetch(new URL(path, issuer), { redirect: 'manual', ...init, headers })
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      jar.set(name, value)
    }
    return response
  }
  const locationOf = async (response: Promise<Response>) => (await response).headers.get('location') ?? ''
  const verifier = openid.randomPKCECodeVerifier()
  const asked = new URLSearchParams({
    ...{ client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: `${ORIGIN}/callback` },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  })
  const chooser = await locationOf(go(`/auth?${asked}`))
  const chosen = { method: 'POST', body: new URLSearchParams({ sub: 'alice' }), headers: { origin: issuer } }
  const callback = await locationOf(go(await locationOf(go(chooser, chosen))))
  const body = new URLSearchParams({
    ...{
      grant_type: 'authorization_code',
      client_id: 'app',
      client_secret: 'dev-secret-app',
      redirect_uri: `${ORIGIN}/callback`,
    },
    ...{ code: new URL(callback).searchParams.get('code') ?? '', code_verifier: verifier },
  })
  return (await (await go('/token', { method: 'POST', body })).json()) as Awaited<ReturnType<typeof signedIn>>
}
