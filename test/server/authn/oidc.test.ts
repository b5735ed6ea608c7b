import { expect } from 'chai'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Principal } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import { oidc, type OidcOptions } from '../../../lib/server/authn/oidc.js'
import { Metadata } from '../../../lib/server/call.js'

const credentials = { metadata: new Metadata(), peer: '', signal: new AbortController().signal }
const NOW = new Date('2030-01-01T00:00:00Z')
const at = (seconds: number) => Math.floor(NOW.getTime() / 1000) + seconds

type Pair = Awaited<ReturnType<typeof generateKeyPair>>

describe('oidc', () => {
  const pairs = new Map<string, Pair>()
  let issuer = ''
  let server: Server
  let served: readonly string[] = []
  let requests = 0
  let isDown = false

  before(async () => {
    for (const kid of ['one', 'two', 'three'])
      pairs.set(kid, await generateKeyPair('RS256', { extractable: true }))
    pairs.set('curve', await generateKeyPair('ES256', { extractable: true }))
    server = createServer((request, response) => {
      requests++
      if (isDown) return void response.writeHead(503).end()
      if (request.url === '/.well-known/openid-configuration') {
        return void response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }))
      }
      void Promise.all(served.map(publicJwk)).then((keys) => response.end(JSON.stringify({ keys })))
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  beforeEach(() => {
    served = ['one', 'curve']
    requests = 0
    isDown = false
    clock = NOW.getTime()
  })

  after(() => void server.close())

  let clock = NOW.getTime()

  const pair = (kid: string): Pair => pairs.get(kid) as Pair
  const publicJwk = async (kid: string) => ({
    ...(await exportJWK(pair(kid).publicKey)),
    kid,
    use: 'sig',
    alg: kid === 'curve' ? 'ES256' : 'RS256',
  })

  const verifier = (options: Partial<OidcOptions> = {}) =>
    oidc({ issuer, audience: 'widgets', now: () => new Date(clock), ...options })

  const claims = (): JWTPayload => ({ iss: issuer, aud: 'widgets', sub: 'alice', exp: at(60), iat: at(0) })

  const signed = (payload: JWTPayload = claims(), kid = 'one', header: object = {}) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: kid === 'curve' ? 'ES256' : 'RS256', kid, ...header })
      .sign(pair(kid).privateKey)

  const verdict = async (token: string, authenticator = verifier()): Promise<Principal | string> => {
    try {
      return await authenticator.authenticate(token, credentials)
    } catch (error) {
      expect(error).to.be.instanceOf(AshlarError)
      return `${(error as AshlarError).code}: ${(error as AshlarError).wireMessage}`
    }
  }

  const INVALID = 'UNAUTHENTICATED: invalid bearer token'

  it('reads subject, tenant, groups and scopes', async () => {
    const token = await signed({ ...claims(), tenant: 'acme', groups: ['makers'], scope: 'read write' })
    const principal = { subject: 'alice', tenant: 'acme', groups: ['makers'], scopes: ['read', 'write'] }
    expect(await verdict(token)).to.deep.equal(principal)
  })

  it('reads them from where the mapping says', async () => {
    const token = await signed({
      ...claims(),
      'https://x/tenant': 'acme',
      realm: { roles: ['a'] },
      scopes: ['s'],
      name: 'Al',
    })
    const mapping = {
      subject: 'name',
      tenant: 'https://x/tenant',
      groups: (all: JWTPayload) => (all['realm'] as { roles: string[] }).roles,
    }
    const principal = { subject: 'Al', tenant: 'acme', groups: ['a'], scopes: ['s'] }
    expect(await verdict(token, verifier({ claims: mapping }))).to.deep.equal(principal)
  })

  const strange: readonly (readonly [string, object, Partial<Principal>])[] = [
    ['a tenant that is a number', { tenant: 7 }, { tenant: '' }],
    ['a tenant that is an object', { tenant: { toString: 'acme' } }, { tenant: '' }],
    ['groups that are numbers', { groups: [1, null, 'a'] }, { groups: ['a'] }],
    ['groups in one text', { groups: 'a, b' }, { groups: ['a', 'b'] }],
    ['scopes that are an object', { scopes: { admin: true } }, { scopes: [] }],
  ]
  for (const [name, extra, part] of strange)
    it(`grants nothing for ${name} beyond what it says`, async () => {
      expect(await verdict(await signed({ ...claims(), ...extra }))).to.deep.include(part)
    })

  const without = (name: string) => () =>
    signed(Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name)))
  const hmac = async (secret: Uint8Array, kid?: string) =>
    new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', ...(kid && { kid }) }).sign(secret)
  const forged = (header: object) => async () => {
    const [, payload = '', signature = ''] = (await signed()).split('.')
    return [Buffer.from(JSON.stringify(header)).toString('base64url'), payload, signature].join('.')
  }

  const attacks: readonly (readonly [string, () => Promise<string> | string, string?])[] = [
    ['alg none', () => new UnsecuredJWT(claims()).encode()],
    ['alg none with a signature', forged({ alg: 'none' })],
    ['alg NoNe', forged({ alg: 'NoNe', kid: 'one' })],
    [
      'the public key as an HMAC secret, as JWK',
      async () => hmac(Buffer.from(JSON.stringify(await publicJwk('one'))), 'one'),
    ],
    [
      'the public modulus as an HMAC secret',
      async () => hmac(Buffer.from((await publicJwk('one')).n ?? '', 'base64url'), 'one'),
    ],
    [
      'the public key as an HMAC secret, as PEM',
      async () => hmac(Buffer.from(await exportSPKI(pair('one').publicKey)), 'one'),
    ],
    ['an empty HMAC secret', () => hmac(Buffer.alloc(32))],
    ['another algorithm than the key has', forged({ alg: 'PS256', kid: 'one' })],
    ['the wrong issuer', () => signed({ ...claims(), iss: 'https://evil.example' })],
    ['an issuer with a slash more', () => signed({ ...claims(), iss: `${issuer}/` })],
    ['no issuer', without('iss')],
    ['the wrong audience', () => signed({ ...claims(), aud: 'gadgets' })],
    ['an audience that begins alike', () => signed({ ...claims(), aud: 'widgets2' })],
    ['no audience', without('aud')],
    ['no expiry', without('exp')],
    ['no subject', without('sub')],
    ['an empty subject', () => signed({ ...claims(), sub: '' })],
    ['an expiry that is text', () => signed({ ...claims(), exp: '9999999999' as never })],
    [
      'expired beyond the leeway',
      () => signed({ ...claims(), exp: at(-31) }),
      'UNAUTHENTICATED: the bearer token has expired',
    ],
    ['not yet valid beyond the leeway', () => signed({ ...claims(), nbf: at(31) })],
    ['an unknown kid', () => signed(claims(), 'three')],
    ['the kid of another key', async () => signed(claims(), 'three', { kid: 'one' })],
    [
      'a key of its own in the header',
      async () => signed(claims(), 'three', { kid: undefined, jwk: await publicJwk('three') }),
    ],
    [
      'a key address in the header',
      () => signed(claims(), 'three', { jku: 'http://127.0.0.1:1/jwks', kid: 'three' }),
    ],
    ['a critical header nobody knows', forged({ alg: 'RS256', kid: 'one', crit: ['x'], x: 1 })],
    [
      'a changed payload',
      async () => {
        const [header = '', , signature = ''] = (await signed()).split('.')
        return [
          header,
          Buffer.from(JSON.stringify({ ...claims(), sub: 'root' })).toString('base64url'),
          signature,
        ].join('.')
      },
    ],
    ['no signature', async () => (await signed()).split('.').slice(0, 2).join('.') + '.'],
    ['one part more', async () => `${await signed()}.e30`],
    ['padding', async () => `${await signed()}=`],
    ['spaces', async () => (await signed()).replace('.', ' .')],
    ['not a token at all', () => 'hello'],
    ['nothing', () => ''],
    ['a header that is no object', () => `${Buffer.from('[]').toString('base64url')}.e30.e30`],
    [
      'a payload that is no object',
      async () => {
        const { CompactSign } = await import('jose')
        return new CompactSign(Buffer.from('[]'))
          .setProtectedHeader({ alg: 'RS256', kid: 'one' })
          .sign(pair('one').privateKey)
      },
    ],
    ['an unencoded payload', forged({ alg: 'RS256', kid: 'one', b64: false, crit: ['b64'] })],
  ]
  for (const [name, token, answer = INVALID] of attacks)
    it(`refuses ${name}`, async () => {
      expect(await verdict(await token())).to.equal(answer)
    })

  const accepted: readonly (readonly [string, () => Promise<string>])[] = [
    ['expired within the leeway', () => signed({ ...claims(), exp: at(-29) })],
    ['not yet valid within the leeway', () => signed({ ...claims(), nbf: at(29) })],
    ['one of several audiences', () => signed({ ...claims(), aud: ['gadgets', 'widgets'] })],
    ['no kid, with one key that fits', () => signed(claims(), 'curve', { kid: undefined })],
    ['a signature on a curve', () => signed(claims(), 'curve')],
  ]
  for (const [name, token] of accepted)
    it(`accepts ${name}`, async () => {
      expect(await verdict(await token())).to.have.property('subject', 'alice')
    })

  it('tries every key that fits a token without kid', async () => {
    served = ['two', 'one', 'three']
    expect(await verdict(await signed(claims(), 'one', { kid: undefined }))).to.have.property(
      'subject',
      'alice',
    )
    served = ['two', 'three']
    expect(await verdict(await signed(claims(), 'one', { kid: undefined }))).to.equal(INVALID)
  })

  it('accepts only algorithms that are allowed', async () => {
    const narrow = verifier({ algorithms: ['ES256'] })
    expect(await verdict(await signed(), narrow)).to.equal(INVALID)
    expect(await verdict(await signed(claims(), 'curve'), narrow)).to.have.property('subject', 'alice')
  })

  describe('keys', () => {
    it('are fetched once for many tokens at the same time, and then kept', async () => {
      const authenticator = verifier()
      const token = await signed()
      const all = await Promise.all(Array.from({ length: 50 }, () => verdict(token, authenticator)))
      expect(all.every((one) => typeof one === 'object')).to.equal(true)
      await verdict(token, authenticator)
      expect(requests).to.equal(2)
    })

    it('are fetched again, once, when a token names an unknown one', async () => {
      const authenticator = verifier()
      await verdict(await signed(), authenticator)
      served = ['two']
      clock += 30_000
      expect(await verdict(await signed(claims(), 'two'), authenticator)).to.have.property('subject', 'alice')
      expect(await verdict(await signed(), authenticator)).to.equal(INVALID)
      expect(requests).to.equal(4)
    })

    it('are not asked for by a flood of unknown kids', async () => {
      const authenticator = verifier()
      await verdict(await signed(), authenticator)
      clock += 30_000
      const flood = Array.from({ length: 200 }, (_, n) => signed(claims(), 'three', { kid: `evil-${n}` }))
      for (const token of await Promise.all(flood))
        expect(await verdict(token, authenticator)).to.equal(INVALID)
      expect(requests).to.equal(4)
      expect(await verdict(await signed(), authenticator)).to.have.property('subject', 'alice')
    })

    it('stay in use through an outage', async () => {
      const authenticator = verifier()
      await verdict(await signed(), authenticator)
      isDown = true
      clock += 24 * 3600_000
      const late = await signed({ ...claims(), exp: at(25 * 3600) })
      expect(await verdict(late, authenticator)).to.have.property('subject', 'alice')
      expect(await verdict(await signed({ ...claims(), exp: at(25 * 3600) }, 'two'), authenticator)).to.equal(
        INVALID,
      )
      isDown = false
      served = ['two']
      clock += 30_000
      expect(
        await verdict(await signed({ ...claims(), exp: at(25 * 3600) }, 'two'), authenticator),
      ).to.have.property('subject')
    })

    it('that never came make tokens unverifiable, not invalid, and are asked for again', async () => {
      isDown = true
      const authenticator = verifier()
      expect(await verdict(await signed(), authenticator)).to.equal(
        'UNAVAILABLE: tokens cannot be verified now: retry later',
      )
      isDown = false
      clock += 1_000
      expect(await verdict(await signed(), authenticator)).to.have.property('subject', 'alice')
    })

    it('are refused when the configuration is that of another issuer', async () => {
      const other = verifier({ issuer: issuer.replace('127.0.0.1', 'localhost') })
      expect(await verdict(await signed(), other)).to.match(/^UNAVAILABLE/)
    })

    const unfit: readonly (readonly [string, object])[] = [
      ['are for encryption', { use: 'enc' }],
      ['may not verify', { key_ops: ['sign'] }],
      ['are for another algorithm', { alg: 'RS512' }],
    ]
    for (const [name, extra] of unfit)
      it(`that ${name} are passed over`, async () => {
        const keys = [{ ...(await publicJwk('one')), ...extra }]
        expect(await verdict(await signed(), verifier({ jwks: { keys } }))).to.equal(INVALID)
      })

    it('can be given, or found at an address', async () => {
      const keys = [await publicJwk('one')]
      expect(await verdict(await signed(), verifier({ jwks: { keys } }))).to.have.property('subject')
      expect(requests).to.equal(0)
      expect(await verdict(await signed(), verifier({ jwksUri: `${issuer}/jwks` }))).to.have.property(
        'subject',
      )
      expect(requests).to.equal(1)
    })
  })

  const holes: readonly (readonly [string, Partial<OidcOptions>, RegExp])[] = [
    ['plain http', { issuer: 'http://id.example' }, /issuer "http:\/\/id\.example" must be an https address/],
    ['no address', { issuer: 'me' }, /must be an https address/],
    ['keys over plain http', { jwksUri: 'http://id.example/jwks' }, /jwksUri/],
    ['no audience', { audience: '' }, /audience is empty/],
    ['no audiences', { audience: [] }, /audience is empty/],
    ['a shared secret', { algorithms: ['HS256'] }, /algorithms \[HS256\]/],
    ['alg none', { algorithms: ['RS256', 'none'] }, /algorithms/],
    ['no algorithm', { algorithms: [] }, /algorithms/],
  ]
  for (const [name, options, text] of holes)
    it(`does not start with ${name}`, () => {
      expect(() => verifier(options)).to.throw(TypeError, text)
    })
})
