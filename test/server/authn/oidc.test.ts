import { expect } from 'chai'
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Principal } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import { oidc, type OidcOptions } from '../../../lib/server/authn/oidc.js'
import { Metadata } from '../../../lib/call.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { post, recordingLogger, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/** As an attacker on the way could make them in an afternoon. */
const shortKey = () => generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })

const credentials = {
  ...{ metadata: new Metadata(), peer: '', signal: new AbortController().signal },
  logger: recordingLogger(),
}
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
  /** Served instead of keys. */
  let document: unknown

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
      if (document !== undefined) return void response.end(JSON.stringify(document))
      void Promise.all(served.map(publicJwk)).then((keys) => response.end(JSON.stringify({ keys })))
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  beforeEach(() => {
    served = ['one', 'curve']
    requests = 0
    isDown = false
    document = undefined
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
      .setProtectedHeader({ alg: kid === 'curve' ? 'ES256' : 'RS256', kid, typ: 'at+jwt', ...header })
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

  /** A good signature over claims whose JSON is written as it is given. */
  const spelled = async (texts: Readonly<Record<string, string>>) => {
    const { CompactSign } = await import('jose')
    const known = Object.entries(claims()).map(([name, value]) => [name, JSON.stringify(value)] as const)
    const all = [...new Map([...known, ...Object.entries(texts)])]
    const json = `{${all.map(([name, text]) => `"${name}":${text}`).join(',')}}`
    return new CompactSign(Buffer.from(json))
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'at+jwt' })
      .sign(pair('one').privateKey)
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
    ['an expiry without end', () => spelled({ exp: '1e999' })],
    ['an expiry beyond what a number keeps exactly', () => spelled({ exp: '9007199254740993' })],
    ['an expiry of a large power', () => spelled({ exp: '1e300' })],
    ['an expiry that is true', () => spelled({ exp: 'true' })],
    ['an expiry that is null', () => spelled({ exp: 'null' })],
    ['an expiry in a list', () => spelled({ exp: '[9999999999]' })],
    ['a beginning before all time', () => spelled({ nbf: '-1e999' })],
    ['a beginning that is text', () => spelled({ nbf: '"0"' })],
    ['an issuing time without end', () => spelled({ iat: '-1e999' })],
    ['an issuing time that is null', () => spelled({ iat: 'null' })],
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
    ['a header that is not an object', () => `${Buffer.from('[]').toString('base64url')}.e30.e30`],
    [
      'a payload that is not an object',
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

  it('accepts an expiry with a fraction, and the latest there is', async () => {
    expect(await verdict(await spelled({ exp: `${at(60)}.5` }))).to.have.property('subject', 'alice')
    expect(await verdict(await spelled({ exp: '9007199254740991' }))).to.have.property('subject', 'alice')
  })

  const typed = (typ: unknown) => signed({ ...claims(), scope: 'read' }, 'one', { typ })
  for (const typ of [undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'application/jwt'])
    it(`accepts a token of type ${String(typ)}`, async () => {
      expect(await verdict(await typed(typ))).to.have.property('subject', 'alice')
    })

  for (const typ of [
    ...[
      'logout+jwt',
      'secevent+jwt',
      'dpop+jwt',
      'application/logout+jwt',
      'Logout+JWT',
      'token-introspection+jwt',
    ],
    ...[
      '',
      ' ',
      'JWT ',
      'JWT;x',
      'JOSE',
      'JWS',
      'text/jwt',
      'application/',
      'at+jwt,JWT',
      7,
      true,
      null,
      ['JWT'],
      {},
    ],
  ])
    it(`refuses a token of type ${JSON.stringify(typ)}, though its signature is good`, async () => {
      expect(await verdict(await typed(typ))).to.equal(INVALID)
    })

  it('accepts the types that it is told, and no others', async () => {
    const access = verifier({ types: ['at+jwt'] })
    expect(await verdict(await typed('application/at+JWT'), access)).to.have.property('subject', 'alice')
    for (const typ of [undefined, 'JWT', ''])
      expect(await verdict(await typed(typ), access)).to.equal(INVALID)
    const own = verifier({ types: ['', 'application/vnd.acme+jwt'] })
    for (const typ of [undefined, 'vnd.acme+jwt'])
      expect(await verdict(await typed(typ), own)).to.have.property('subject', 'alice')
    expect(await verdict(await typed('JWT'), own)).to.equal(INVALID)
  })

  it('refuses another type also where several keys fit', async () => {
    served = ['two', 'one']
    expect(await verdict(await signed(claims(), 'one', { kid: undefined, typ: 'logout+jwt' }))).to.equal(
      INVALID,
    )
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

    const unusable: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['no key', async () => ({ keys: [] })],
      ['no list of keys', async () => ({})],
      ['null', async () => null],
      ['text instead of keys', async () => ({ keys: 'one' })],
      ['members that are no keys', async () => ({ keys: [{}, { kty: 'RSA' }, { kty: 7 }] })],
      ['a key for encryption', async () => ({ keys: [{ ...(await publicJwk('one')), use: 'enc' }] })],
      [
        'a key that may only sign',
        async () => ({ keys: [{ ...(await publicJwk('one')), key_ops: ['sign'] }] }),
      ],
      [
        'a key for another algorithm',
        async () => ({ keys: [{ ...(await publicJwk('one')), alg: 'RSA-OAEP' }] }),
      ],
      ['a shared secret', async () => ({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one' }] })],
      [
        'a private key',
        async () => ({ keys: [{ ...(await exportJWK(pair('one').privateKey)), kid: 'one' }] }),
      ],
      ['a short RSA key', async () => ({ keys: [{ ...shortKey(), kid: 'one' }] })],
      [
        'a point that is on no curve',
        async () => ({ keys: [{ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'curve' }] }),
      ],
    ]
    for (const [name, answer] of unusable)
      it(`that work are not replaced by ${name}`, async () => {
        const authenticator = verifier({ logger: recordingLogger() })
        const token = await signed({ ...claims(), exp: at(3600) })
        await verdict(token, authenticator)
        document = await answer()
        for (let n = 0; n < 3; n++) {
          clock += 11 * 60_000
          expect(await verdict(await signed(claims(), 'three'), authenticator)).to.equal(INVALID)
          expect(await verdict(token, authenticator)).to.have.property('subject', 'alice')
        }
        document = undefined
        served = ['two']
        clock += 60_000
        expect(
          await verdict(await signed({ ...claims(), exp: at(3600) }, 'two'), authenticator),
        ).to.have.property('subject', 'alice')
      })

    it('are waited for while the issuer has none', async () => {
      const authenticator = verifier({ logger: recordingLogger() })
      document = { keys: [] }
      expect(await verdict(await signed(), authenticator)).to.match(/^UNAVAILABLE/)
      document = undefined
      clock += 1000
      expect(await verdict(await signed(), authenticator)).to.have.property('subject', 'alice')
    })

    it('that are usable among others that are not are taken', async () => {
      document = { keys: [{ kty: 'oct', k: 'c2VjcmV0' }, await publicJwk('one')] }
      expect(await verdict(await signed())).to.have.property('subject', 'alice')
    })

    it('that cannot be fetched are logged at once, then less and less often, and when they are there again', async () => {
      const logger = recordingLogger()
      const authenticator = verifier({ logger })
      isDown = true
      const minutes: number[] = []
      for (let second = 0; second < 3 * 3600; second += 10) {
        const before = logger.records.length
        await verdict(await signed({ ...claims(), exp: at(24 * 3600) }), authenticator)
        if (logger.records.length > before) minutes.push(Math.round(second / 60))
        clock += 10_000
      }
      expect(minutes).to.deep.equal([0, 1, 3, 7, 15, 31, 63, 123])
      expect(logger.records[1]).to.deep.equal({
        level: 'warn',
        fields: {
          issuer,
          failures: 7,
          err: { name: 'TypeError', message: `${issuer}/.well-known/openid-configuration returned 503` },
        },
        message: 'the keys of the issuer could not be fetched: no token can be verified',
      })
      isDown = false
      const late = await signed({ ...claims(), exp: at(24 * 3600) })
      expect(await verdict(late, authenticator)).to.have.property('subject', 'alice')
      expect(logger.records.at(-1)).to.deep.include({
        level: 'info',
        message: 'the keys of the issuer were fetched',
      })
      isDown = true
      clock += 11 * 60_000
      await verdict(await signed({ ...claims(), exp: at(24 * 3600) }, 'three'), authenticator)
      expect(logger.records.at(-1)).to.deep.include({
        level: 'warn',
        message: 'the keys of the issuer could not be fetched: the known ones stay in use',
      })
    })

    it('that cannot be reached are logged with the reason', async () => {
      const logger = recordingLogger()
      await verdict(await signed(), verifier({ logger, jwksUri: 'http://127.0.0.1:1/jwks' }))
      const { err } = logger.records[0]?.fields as { err: { message: string } }
      expect(err.message).to.match(/^fetch failed: ./)
    })

    it('that cannot be fetched are told to the logger of the server', async () => {
      isDown = true
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        authenticator: verifier(),
        principalFunc: undefined as never,
      })
      const headers = { authorization: `Bearer ${await signed()}` }
      expect((await fetch(`${running.http}/v1/echo`, post(headers))).status).to.equal(503)
      expect(running.records.map(({ message }) => message)).to.include(
        'the keys of the issuer could not be fetched: no token can be verified',
      )
      await running.stop()
    })

    it('verify tokens whose problem is in the log, and not in the response', async () => {
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        authenticator: verifier(),
        principalFunc: undefined as never,
      })
      for (const [token, denial] of [
        [await signed({ ...claims(), aud: 'another' }), 'unexpected "aud" claim value'],
        [await signed({ ...claims(), exp: at(-3600) }), '"exp" claim timestamp check failed'],
        [await signed(claims(), 'two'), 'no applicable key found in the JSON Web Key Set'],
        [String(await signed()).slice(0, -4), 'signature verification failed'],
        ['nonsense', undefined],
      ] as const) {
        const response = await fetch(
          `${running.http}/v1/echo`,
          post({ authorization: `Bearer ${String(token)}` }),
        )
        expect(response.status).to.equal(401)
        if (denial !== undefined) expect(await response.text()).not.to.include(denial)
        expect(running.records.at(-1)?.fields['denial'], denial).to.equal(denial)
      }
      await running.stop()
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

    it('are refused when the configuration names another issuer', async () => {
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

    const strangers: readonly (readonly [string, () => unknown])[] = [
      ['null', () => null],
      ['a number', () => 7],
      ['a text', () => 'key'],
      ['a list', () => [1]],
      ['an object that is not a key', () => ({ kid: 'one' })],
      ['a key type of the future', () => ({ kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA', kid: 'one' })],
      ['a short RSA key', () => ({ ...shortKey(), kid: 'one' })],
      ['an RSA key without a modulus', () => ({ kty: 'RSA', n: '', e: 'AQAB', kid: 'one' })],
      ['an RSA key whose modulus is a number', () => ({ kty: 'RSA', n: 5, e: 'AQAB', kid: 'one' })],
      ['a shared secret', () => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'one' })],
      ['a private key', async () => ({ ...(await exportJWK(pair('two').privateKey)), kid: 'one' })],
      ['uses that are not a list', async () => ({ ...(await publicJwk('one')), key_ops: 'verify' })],
      ['a usable key of the same name', async () => ({ ...(await publicJwk('two')), kid: 'one' })],
    ]
    for (const [name, stranger] of strangers)
      it(`beside ${name} verify, given or fetched, with kid and without`, async () => {
        const [good, other] = [await publicJwk('one'), (await stranger()) as JWK]
        const tokens = [await signed(), await signed(claims(), 'one', { kid: undefined })]
        for (const keys of [
          [other, good],
          [good, other],
        ]) {
          document = { keys }
          for (const authenticator of [verifier(), verifier({ jwks: { keys } })])
            for (const token of tokens)
              expect(await verdict(token, authenticator)).to.have.property('subject', 'alice')
        }
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
    ['no type', { types: [] }, /types is empty/],
    ['no algorithm', { algorithms: [] }, /algorithms/],
    ['a mark that nothing reads', { idTokens: true, accessTokenMark: () => true }, /accessTokenMark/],
  ]
  for (const [name, options, text] of holes)
    it(`does not start with ${name}`, () => {
      expect(() => verifier(options)).to.throw(TypeError, text)
    })
})
