import { expect } from 'chai'
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'
import { Metadata } from '../../../lib/call.js'
import { oidc, type OidcOptions } from '../../../lib/server/authn/oidc.js'
import { recordingLogger } from '../../support/servers/server.js'

/** What the check reads of a token: its header and its claims beside `iss`, `aud`, `sub` and times. */
interface Sample {
  readonly typ?: string
  readonly claims: JWTPayload
}

const ID_TOKEN = 'the bearer token is an ID token: send the access token that came with it'
const REFRESH_TOKEN = 'the bearer token is a refresh token: send the access token that came with it'
const UNMARKED = 'the bearer token does not show that it is an access token: send an access token'

/** Access tokens as the providers write them. */
const ACCESS_TOKENS: Readonly<Record<string, Sample>> = {
  'Keycloak 26': {
    typ: 'JWT',
    claims: {
      ...{ jti: 'onrtac:8a0c', typ: 'Bearer', azp: 'shop', sid: '5c1f', acr: '1' },
      ...{ 'allowed-origins': ['https://shop.example'], realm_access: { roles: ['offline_access'] } },
      ...{ scope: 'profile email', email_verified: true, preferred_username: 'alice' },
    },
  },
  'Keycloak 24, which writes the nonce of the sign-in': {
    typ: 'JWT',
    claims: { jti: '8a0c', typ: 'Bearer', azp: 'shop', nonce: 'n-0S6', session_state: '5c1f', acr: '1' },
  },
  'Keycloak without the scope claim': {
    typ: 'JWT',
    claims: { jti: '8a0c', typ: 'Bearer', azp: 'shop', acr: '1', clientHost: '10.0.0.1' },
  },
  Auth0: {
    typ: 'JWT',
    claims: { azp: 'fpJ2', scope: 'openid profile read:widgets', permissions: ['read:widgets'] },
  },
  'Auth0 for a machine without scopes': {
    typ: 'JWT',
    claims: { azp: 'fpJ2', gty: 'client-credentials' },
  },
  'Auth0 with permissions and without scopes': {
    typ: 'JWT',
    claims: { iss: 'https://shop.eu.auth0.com/', azp: 'fpJ2', permissions: ['read:widgets'] },
  },
  'Auth0 for a person without permissions': {
    typ: 'JWT',
    claims: { iss: 'https://shop.auth0.com/', azp: 'fpJ2', permissions: [] },
  },
  'Entra 2.0 for an application without roles': {
    typ: 'JWT',
    claims: { iss: 'https://login.microsoftonline.com/7d3e/v2.0', azp: '6731', idtyp: 'app', ver: '2.0' },
  },
  'Entra 1.0 for an application without roles': {
    typ: 'JWT',
    claims: { iss: 'https://sts.windows.net/7d3e/', appid: '6731', idtyp: 'app', ver: '1.0' },
  },
  'Auth0 with the profile of RFC 9068': {
    typ: 'at+jwt',
    claims: { client_id: 'fpJ2', jti: 'Kj9' },
  },
  'Entra 2.0 for a person': {
    typ: 'JWT',
    claims: {
      ...{
        aio: 'AXQ',
        azp: '6731',
        azpacr: '1',
        name: 'Alice',
        oid: '9f2c',
        rh: '0.AR',
        scp: 'Widgets.Read',
      },
      ...{ preferred_username: 'alice@example.com', tid: '7d3e', uti: 'q2A', ver: '2.0' },
    },
  },
  'Entra 2.0 for an application': {
    typ: 'JWT',
    claims: { aio: 'E2Z', azp: '6731', azpacr: '1', idtyp: 'app', oid: '9f2c', roles: ['Widgets.Read.All'] },
  },
  'Entra 1.0 for an application': {
    typ: 'JWT',
    claims: {
      aio: 'E2Z',
      appid: '6731',
      appidacr: '1',
      roles: ['Widgets.Read.All'],
      tid: '7d3e',
      ver: '1.0',
    },
  },
  Cognito: {
    claims: {
      ...{ origin_jti: 'a1', event_id: 'e1', token_use: 'access', scope: 'widgets/read', auth_time: 1 },
      ...{ 'cognito:groups': ['staff'], client_id: '6kf2', username: 'alice', version: 2, jti: 'j1' },
    },
  },
  'Cognito without scopes': {
    claims: { origin_jti: 'a1', token_use: 'access', auth_time: 1, client_id: '6kf2', username: 'alice' },
  },
  Okta: {
    claims: { ver: 1, jti: 'AT.0m', cid: '0oa1', uid: '00u1', scp: ['openid', 'widgets'], auth_time: 1 },
  },
  'Okta without scopes': { claims: { ver: 1, jti: 'AT.0m', cid: '0oa1', uid: '00u1' } },
  'RFC 9068, with the media type in full': { typ: 'application/at+jwt', claims: { client_id: 's6Bh' } },
}

/** ID tokens as the providers write them, and why each is rejected. */
const ID_TOKENS: Readonly<Record<string, Sample & { readonly because: string }>> = {
  Keycloak: {
    because: ID_TOKEN,
    typ: 'JWT',
    claims: { typ: 'ID', azp: 'shop', sid: '5c1f', acr: '1', email_verified: true },
  },
  'Auth0 for a code flow with a nonce': {
    because: ID_TOKEN,
    typ: 'JWT',
    claims: { nickname: 'alice', name: 'Alice', nonce: 'n-0S6', sid: 'V4' },
  },
  'Auth0 for a code flow without a nonce': {
    because: UNMARKED,
    typ: 'JWT',
    claims: { nickname: 'alice', name: 'Alice', picture: 'https://s.gravatar.com/a', sid: 'V4' },
  },
  'Entra 2.0 with app roles': {
    because: UNMARKED,
    typ: 'JWT',
    claims: { name: 'Alice', oid: '9f2c', rh: '0.AR', roles: ['Admin'], tid: '7d3e', uti: 'q2A', ver: '2.0' },
  },
  'Entra 2.0 of the hybrid flow': {
    because: ID_TOKEN,
    typ: 'JWT',
    claims: { name: 'Alice', oid: '9f2c', c_hash: 'LDkt', nonce: 'n-0S6', ver: '2.0' },
  },
  Cognito: {
    because: ID_TOKEN,
    claims: { 'cognito:username': 'alice', token_use: 'id', auth_time: 1, email: 'alice@example.com' },
  },
  'Okta for a code flow': {
    because: ID_TOKEN,
    claims: {
      name: 'Alice',
      ver: 1,
      jti: 'ID.4e',
      amr: ['pwd'],
      idp: '00o1',
      auth_time: 1,
      at_hash: 'preyJ',
    },
  },
  'Okta for a refresh': {
    because: UNMARKED,
    claims: { name: 'Alice', ver: 1, jti: 'ID.4e', amr: ['pwd'], idp: '00o1', auth_time: 1 },
  },
  Google: {
    because: ID_TOKEN,
    typ: 'JWT',
    claims: { azp: '407.apps.googleusercontent.com', email: 'alice@example.com', at_hash: 'tQDL' },
  },
  'Google without an access token': {
    because: UNMARKED,
    typ: 'JWT',
    claims: {
      azp: '407.apps.googleusercontent.com',
      hd: 'example.com',
      email: 'alice@example.com',
      jti: 'a',
    },
  },
}

/** Marks of ID tokens; each outweighs every mark of an access token. */
const MARKS_OF_ID_TOKENS: readonly JWTPayload[] = [
  ...[
    { at_hash: 'x' },
    { c_hash: 'x' },
    { s_hash: 'x' },
    { 'urn:openid:params:jwt:claim:rt_hash': 'x' },
    { nonce: 'x' },
    { nonce: null } as unknown as JWTPayload,
  ],
  ...[{ typ: 'ID' }, { typ: 'id' }, { token_use: 'id' }, { token_use: 'ID' }],
  ...[
    { typ: 'Bearer', nonce: 'x', at_hash: 'x' },
    { typ: 'Bearer', c_hash: 'x' },
    { typ: 'Bearer', at_hash: '' },
  ],
]

/** What only looks like a mark of an access token. */
const NO_MARKS: readonly JWTPayload[] = [
  ...[{}, { scope: '' }, { scope: ' ' }, { scope: null } as unknown as JWTPayload, { scope: { read: true } }],
  ...[{ scp: [] }, { scp: [''] }, { scp: [7] }, { scopes: 'read' }],
  ...[{ roles: ['a'] }, { azp: 'x' }, { appid: 'x' }, { roles: [], azp: 'x' }, { roles: ['a'], azp: '' }],
  ...[
    { token_use: 'Access' },
    { typ: 'bearer' },
    { typ: 'JWT' },
    { cid: '' },
    { gty: true },
    { client_id: 'x' },
    ...[{ permissions: ['a'] }, { idtyp: 'app' }],
  ],
  ...[
    { iss: 'https://shop.auth0.com.example/', permissions: ['a'] },
    { iss: 'https://notauth0.com/', permissions: ['a'] },
    { iss: 'https://shop.auth0.com/', permissions: 'a' },
    { iss: 'https://shop.auth0.com/', idtyp: 'app' },
    { iss: 'https://login.microsoftonline.com/7d3e/v2.0', idtyp: 'user' },
    { iss: 'https://login.microsoftonline.com/7d3e/v2.0', permissions: ['a'] },
    { iss: 'https://login.microsoftonline.com.example/', idtyp: 'app' },
  ],
]

const credentials = { metadata: new Metadata(), peer: '', signal: new AbortController().signal }

describe('how oidc() tells access tokens from ID tokens', () => {
  let jwks: JSONWebKeySet
  let sign: (sample: Sample) => Promise<string>

  before(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }] }
    sign = ({ typ, claims }) =>
      new SignJWT({ iss: 'https://id.example', aud: 'widgets', sub: 'alice', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', ...(typ !== undefined && { typ }) })
        .setExpirationTime('5m')
        .sign(privateKey)
  })

  const verdict = async (sample: Sample, options: Partial<OidcOptions> = {}): Promise<string> =>
    oidc({
      issuer: sample.claims.iss ?? 'https://id.example',
      audience: 'widgets',
      jwks,
      logger: recordingLogger(),
      ...options,
    })
      .authenticate(await sign(sample), credentials)
      .then(
        ({ subject }) => subject,
        (error: unknown) => (error as Error).message,
      )

  for (const [provider, sample] of Object.entries(ACCESS_TOKENS))
    it(`accepts an access token of ${provider}`, async () => {
      expect(await verdict(sample)).to.equal('alice')
    })

  for (const [provider, { because, ...sample }] of Object.entries(ID_TOKENS))
    it(`rejects an ID token of ${provider}, unless ID tokens are allowed`, async () => {
      expect(await verdict(sample)).to.equal(because)
      expect(await verdict(sample, { idTokens: true })).to.equal('alice')
    })

  for (const claims of MARKS_OF_ID_TOKENS)
    it(`rejects a token with ${JSON.stringify(claims)}, whatever else it has`, async () => {
      const access = { scope: 'read', scp: 'read', cid: 'x', gty: 'x', roles: ['a'], azp: 'x', ...claims }
      for (const typ of ['JWT', 'at+jwt'])
        expect(await verdict({ typ, claims: access }, { accessTokenMark: () => true })).to.equal(ID_TOKEN)
    })

  for (const claims of [{ typ: 'Refresh' }, { typ: 'refresh' }, { typ: 'Offline' }])
    it(`rejects a refresh token with ${JSON.stringify(claims)}, whatever else it has`, async () => {
      const access = { scope: 'openid email', azp: 'shop', cid: 'x', ...claims }
      for (const typ of ['JWT', 'at+jwt'])
        expect(await verdict({ typ, claims: access }, { accessTokenMark: () => true })).to.equal(
          REFRESH_TOKEN,
        )
    })

  for (const claims of NO_MARKS)
    it(`rejects a token that shows nothing by ${JSON.stringify(claims)}`, async () => {
      expect(await verdict({ typ: 'JWT', claims })).to.equal(UNMARKED)
    })

  it('asks accessTokenMark about a token without a mark, and takes only true for an answer', async () => {
    const own = { claims: { purpose: 'api' } }
    const accessTokenMark = ({ purpose }: JWTPayload) => purpose === 'api'
    expect(await verdict(own, { accessTokenMark })).to.equal('alice')
    expect(await verdict({ claims: { purpose: 'page' } }, { accessTokenMark })).to.equal(UNMARKED)
    expect(await verdict(own, { accessTokenMark: (async () => false) as never })).to.equal(UNMARKED)
    const failing = () => {
      throw new TypeError('no such claim')
    }
    expect(await verdict(own, { accessTokenMark: failing })).to.equal('invalid bearer token')
  })

  it('logs accessTokenMark with the first token that nothing marks, and once', async () => {
    const logger = recordingLogger()
    const authenticator = oidc({ issuer: 'https://id.example', audience: 'widgets', jwks, logger })
    const rejected = async (sample: Sample) =>
      authenticator.authenticate(await sign(sample), credentials).catch((error: unknown) => error)
    await rejected({ claims: { at_hash: 'x' } })
    expect(logger.records).to.deep.equal([])
    for (let n = 0; n < 3; n++) await rejected({ claims: {} })
    expect(logger.records.map(({ level, fields }) => ({ level, fields }))).to.deep.equal([
      { level: 'warn', fields: { issuer: 'https://id.example' } },
    ])
    expect(logger.records[0]?.message).to.include('accessTokenMark')
  })
})
