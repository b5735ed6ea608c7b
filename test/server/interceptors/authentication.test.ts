import { expect } from 'chai'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import { oidc } from '../../../lib/server/authn/oidc.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import type { ServerCall } from '../../../lib/call.js'
import type { ServerBuilder } from '../../../lib/server/server-builder.js'
import { openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { type OpenIdProvider, startOpenIdProvider } from '../../support/servers/openid-provider.js'
import { ALICE, ALL, post, type RunningServer, startServer } from '../../support/servers/server.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

const whoami = (_request: unknown, { principal }: ServerCall) => ({ text: JSON.stringify(principal) })

describe('authentication', () => {
  let provider: OpenIdProvider
  let running: RunningServer
  let client: ForeignClient
  let good: string
  let foreign: string

  before(async () => {
    provider = await startOpenIdProvider()
    running = await startServer(
      (builder) => builder.register(EchoService, { ...echoService, echo: whoami, ping: whoami }),
      {
        authenticator: oidc({ issuer: provider.issuer, audience: 'widgets' }),
        principalFunc: verifiedPrincipal,
        authorizer: devAuthorizer([{ ...ALL, subjects: ['group:makers'] }]),
      },
    )
    client = new ForeignClient(EchoService, running.grpc)
    good = await provider.token('widgets', { tenant: 'acme', groups: ['makers'] })
    foreign = await provider.token('gadgets', { tenant: 'acme', groups: ['makers'] })
  })

  after(async () => {
    client.close()
    await running.stop()
    provider.stop()
  })

  /** [what is sent, its value, code of a guarded method, code of a public one] */
  const rows: readonly (readonly [string, () => string | undefined, number, number])[] = [
    ['a token of the provider', () => `Bearer ${good}`, 0, 0],
    ['the scheme in capitals', () => `BEARER ${good}`, 0, 0],
    ['a token for another audience', () => `Bearer ${foreign}`, 16, 16],
    ['a token that was changed', () => `Bearer ${good.slice(0, -8)}AAAAAAAA`, 16, 16],
    ['a bearer that is no token', () => 'Bearer hello', 16, 16],
    ['a bearer with spaces', () => 'Bearer a b', 16, 16],
    ['an empty bearer', () => 'Bearer', 16, 16],
    ['another scheme', () => `Basic ${Buffer.from('a:b').toString('base64')}`, 7, 0],
    ['the token without a scheme', () => good, 7, 0],
    ['nothing', () => undefined, 7, 0],
  ]
  for (const [name, value, guarded, open] of rows) {
    const headers = () => ({ ...(value() && { authorization: value() as string }), ...ALICE })

    it(`returns ${guarded} over gRPC to ${name}, and ${open} on a public method`, async () => {
      expect((await client.unary('Echo', {}, headers())).code).to.equal(guarded)
      expect((await client.stream('Chat', [{}], headers())).code).to.equal(guarded)
      expect((await client.unary('Ping', {}, headers())).code).to.equal(open)
    })

    it(`treats ${name} the same over HTTP`, async () => {
      const status = { 0: 200, 7: 403, 16: 401 }
      const guard = await fetch(`${running.http}/v1/echo`, post(headers()))
      const ping = await fetch(`${running.http}/v1/ping`, { headers: headers() })
      expect([guard.status, ping.status]).to.deep.equal([status[guarded as 0], status[open as 0]])
    })
  }

  it('makes the verified principal the caller, whatever the identity headers say', async () => {
    const expected = { subject: 'robot', tenant: 'acme', groups: ['makers'], scopes: ['read'] }
    const headers = {
      authorization: `Bearer ${good}`,
      'account-id': 'other',
      subject: 'root',
      groups: 'admins',
    }
    const { answer } = await client.unary('Echo', {}, headers)
    expect(JSON.parse(answer?.['text'] as string)).to.deep.equal(expected)
    const response = await fetch(`${running.http}/v1/echo`, post(headers))
    expect(JSON.parse(((await response.json()) as { text: string }).text)).to.deep.equal(expected)
  })

  it('says nothing of the token to the log', () => {
    expect(JSON.stringify(running.records)).not.to.contain(good.slice(-40))
  })
})

describe('apiKey', () => {
  const keys = new Map([['ib_1_secret', { id: '1', accountId: 'acme' }]])

  it('makes the tenant of its record the tenant of the call, and refuses what does not verify', async () => {
    const running = await startServer(
      (builder) => builder.register(EchoService, { ...echoService, echo: whoami }),
      {
        authenticator: apiKey<{ id: string; accountId: string }>({
          verify: async (token) => {
            const record = keys.get(token)
            return record === undefined ? { ok: false, record: undefined } : { ok: true, record }
          },
          principal: ({ id, accountId }) => ({ subject: `key:${id}`, tenant: accountId }),
        }),
        principalFunc: verifiedPrincipal,
      },
    )
    const client = new ForeignClient(EchoService, running.grpc)
    const { answer } = await client.unary(
      'Echo',
      {},
      { authorization: 'Bearer ib_1_secret', 'account-id': 'other' },
    )
    expect(JSON.parse(answer?.['text'] as string)).to.include({ subject: 'key:1', tenant: 'acme' })
    const refused = await client.unary('Echo', {}, { authorization: 'Bearer ib_2_secret' })
    expect([refused.code, refused.details]).to.deep.equal([16, 'invalid API key'])
    client.close()
    await running.stop()
  })
})

describeOn('apiKey', backends, (backend) => {
  it('lets in with the token that a create showed once, as the tenant of its record, and no other', async () => {
    const { specimens, close } = await openSubject(backend)
    const register = (builder: ServerBuilder) =>
      builder
        .register(SpecimenService, specimens, { weighSpecimen: ({ id }) => ({ id }) })
        .register(EchoService, { ...echoService, echo: whoami })
    const open = await startServer(register)
    const maker = new ForeignClient(SpecimenService, open.grpc)
    const specimen = { title: 'key', code: 'key' }
    const { answer } = await maker.unary('CreateSpecimen', { specimen, specimen_id: 'key' }, ALICE)
    const token = String(answer?.['api_key'])
    const running = await startServer(register, {
      authenticator: apiKey<Specimen>({
        verify: (presented) => specimens.verifyApiKey(presented),
        principal: ({ id, accountId }) => ({ subject: `key:${id}`, tenant: accountId }),
      }),
      principalFunc: verifiedPrincipal,
    })
    const [caller, echo] = [
      new ForeignClient(SpecimenService, running.grpc),
      new ForeignClient(EchoService, running.grpc),
    ]
    try {
      const bearer = { authorization: `Bearer ${token}`, 'account-id': 'other', subject: 'root' }
      const me = await echo.unary('Echo', {}, bearer)
      expect(JSON.parse(me.answer?.['text'] as string)).to.include({ subject: 'key:key', tenant: 'acme' })
      const got = await caller.unary('GetSpecimen', { id: 'key' }, bearer)
      expect([got.code, got.answer?.['api_key']]).to.deep.equal([0, ''])
      const response = await fetch(`${running.http}/v1/specimens/key`, { headers: bearer })
      expect(response.status).to.equal(200)
      const altered = token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA')
      for (const bad of [altered, `${token}x`, token.slice(0, -1), token.toUpperCase(), 'x', 'a_b_c']) {
        const authorization = `Bearer ${bad}`
        const refused = await caller.unary('GetSpecimen', { id: 'key' }, { authorization })
        expect([refused.code, refused.details]).to.deep.equal([16, 'invalid API key'])
        const answered = await fetch(`${running.http}/v1/specimens/key`, { headers: { authorization } })
        expect(answered.status).to.equal(401)
      }
      await maker.unary('DeleteSpecimen', { id: 'key' }, ALICE)
      expect((await echo.unary('Echo', {}, bearer)).code).to.equal(16)
      expect(JSON.stringify([open.records, running.records])).not.to.include(token.slice(-20))
    } finally {
      for (const client of [maker, caller, echo]) client.close()
      await open.stop()
      await running.stop()
      await close()
    }
  })
})
