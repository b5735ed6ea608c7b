import { request } from 'node:http'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { Unauthenticated } from '../../../lib/errors.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import type { ServerCall } from '../../../lib/call.js'
import type { Config } from '../../../lib/server/config/config.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { rawGrpcCall } from '../../support/grpc/raw-grpc-call.js'
import { ALICE, ALL, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const ECHO = '/specimens.v1.EchoService/Echo'

const verified: Config = {
  authenticator: {
    authenticate: async (token) => {
      if (token === 'bad') throw new Unauthenticated()
      return Promise.resolve({ subject: token, tenant: 'acme', groups: ['makers'], scopes: [] })
    },
  },
  principalFunc: verifiedPrincipal,
}

/** Over HTTP/1.1, each header as often as it stands there. */
async function rawGet(http: string, path: string, headers: readonly (readonly [string, string])[]) {
  const { host, hostname, port } = new URL(http)
  const flat = [['host', host], ...headers].flat() as string[]
  const sent = request({ hostname, port, path, headers: flat as never })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { status: answer.statusCode, body: JSON.parse(text) as { code: number; message: string } }
}

for (const [identity, config] of Object.entries({
  'headers that are believed': {},
  'bearers that are verified': verified,
}))
  describe(`a header that is there twice, with ${identity}`, () => {
    let running: RunningServer
    let client: ForeignClient
    let reached = 0
    before(async () => {
      const echo = () => {
        reached++
        return { text: 'reached' }
      }
      running = await startServer(
        (builder) => builder.register(EchoService, { ...echoService, echo, ping: echo }),
        config,
      )
      client = new ForeignClient(EchoService, running.grpc)
    })
    after(async () => {
      client.close()
      await running.stop()
    })
    beforeEach(() => {
      reached = 0
      running.records.length = 0
    })

    const ONCE = [
      ['authorization', 'Bearer alice'],
      ['account-id', 'acme'],
      ['subject', 'alice'],
      ['idempotency-key', 'k'],
    ] as const
    const codes = () => running.records.map(({ fields }) => fields['code'])

    for (const [name, value, code, http] of [
      ['authorization', 'Bearer mallory', 'UNAUTHENTICATED', 401],
      ['authorization', 'Bearer alice', 'UNAUTHENTICATED', 401],
      ['authorization', 'Basic eDp5', 'UNAUTHENTICATED', 401],
      ['authorization', '', 'UNAUTHENTICATED', 401],
      ['account-id', 'globex', 'INVALID_ARGUMENT', 400],
      ['account-id', 'acme', 'INVALID_ARGUMENT', 400],
      ['account-id', '', 'INVALID_ARGUMENT', 400],
      ['subject', 'root', 'INVALID_ARGUMENT', 400],
      ['idempotency-key', 'other', 'INVALID_ARGUMENT', 400],
    ] as const)
      for (const [order, headers] of [
        ['behind', [...ONCE, [name, value]]],
        ['in front', [[name, value], ...ONCE]],
      ] as const) {
        it(`is refused over gRPC: ${name} with ${JSON.stringify(value)} ${order}`, async () => {
          await rawGrpcCall(running.grpc, ECHO, headers)
          await rawGrpcCall(running.grpc, '/specimens.v1.EchoService/Chat', headers)
          expect([codes(), reached]).to.deep.equal([[code, code], 0])
        })

        it(`is refused over HTTP: ${name} with ${JSON.stringify(value)} ${order}`, async () => {
          const spelled = headers.map(
            ([each, text]) => [each.replace(/^a|s/, (a) => a.toUpperCase()), text] as const,
          )
          for (const path of ['/v1/echo', '/v1/ping', '/v1/count?upto=1']) {
            const answer = await rawGet(running.http, path, spelled)
            expect([answer.status, answer.body.message]).to.deep.equal([
              http,
              name === 'authorization'
                ? 'the authorization header is given twice: send one'
                : `the header ${name} is given twice: send one`,
            ])
          }
          expect([codes(), reached]).to.deep.equal([[code, code, code], 0])
        })
      }

    it('is refused with a request id, and to clients that send lists', async () => {
      const { code, details, headers } = await client.unary(
        'Echo',
        {},
        { authorization: 'Bearer alice', 'account-id': ['acme', 'globex'], 'x-request-id': 'twice' },
      )
      expect([code, details]).to.deep.equal([
        status.INVALID_ARGUMENT,
        'the header account-id is given twice: send one',
      ])
      expect(headers.get('x-request-id')).to.deep.equal(['twice'])
      expect(running.records[0]?.fields).to.include({ code: 'INVALID_ARGUMENT', requestId: 'twice' })
    })

    it('is none where every header is there once, or may be there more often', async () => {
      const headers = [
        ...ONCE.slice(0, -1),
        ['groups', 'makers'],
        ['groups', 'staff'],
        ['x-other', 'a'],
        ['x-other', 'b'],
      ] as const
      await rawGrpcCall(running.grpc, ECHO, headers)
      expect((await rawGet(running.http, '/v1/echo', headers)).status).to.equal(200)
      expect([codes(), reached]).to.deep.equal([['OK', 'OK'], 2])
    })
  })

describe('what a caller says of itself beside a token', () => {
  let running: RunningServer
  let client: ForeignClient
  const seen: string[][] = []
  before(async () => {
    const echo = (_request: unknown, { metadata }: ServerCall) => {
      seen.push(
        [...metadata.entries()]
          .map(([name]) => name)
          .filter((name) => !['user-agent', 'x-request-id'].includes(name))
          .sort(),
      )
      return { text: '' }
    }
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo,
          ping: echo,
          count: async function* (request, call) {
            echo(request, call)
            yield await Promise.resolve({ text: '' })
          },
        }),
      {
        ...verified,
        authorizer: devAuthorizer([{ ...ALL, subjects: ['alice'] }]),
        gateway: { forwardHeaders: ['Account-Id', 'subject', 'groups', 'x-own'] },
      },
    )
    client = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })
  beforeEach(() => {
    seen.length = 0
    running.records.length = 0
  })

  const claims = { ...ALICE, 'account-id': 'globex', subject: 'root', groups: 'admins', 'x-own': '1' }

  it('is gone from the metadata, whichever listener it came by', async () => {
    const headers = { ...claims, authorization: 'Bearer alice' }
    await client.unary('Echo', {}, headers)
    await client.stream('Count', [{ upto: 1 }], headers)
    await fetch(`${running.http}/v1/echo`, { headers })
    await fetch(`${running.http}/v1/count?upto=1`, { headers })
    expect(seen).to.deep.equal(Array(4).fill(['authorization', 'x-own']))
    await client.unary('Ping', {}, claims)
    await fetch(`${running.http}/v1/ping`, { headers: claims })
    expect(seen.slice(4)).to.deep.equal(Array(2).fill(['x-own']))
  })

  for (const [who, authorization, subject, tenant, code] of [
    ['nobody', undefined, '', '', 'PERMISSION_DENIED'],
    ['one who is verified and may not', 'Bearer bob', 'bob', 'acme', 'PERMISSION_DENIED'],
    ['one who is verified and may', 'Bearer alice', 'alice', 'acme', 'OK'],
    ['one whose token does not hold', 'Bearer bad', undefined, '', 'UNAUTHENTICATED'],
  ] as const)
    it(`is in no log; ${who} is logged as ${String(subject)} of ${JSON.stringify(tenant)}`, async () => {
      const headers = { ...claims, ...(authorization && { authorization }) }
      await client.unary('Echo', {}, headers)
      await client.stream('Chat', [{}], headers)
      await fetch(`${running.http}/v1/echo`, { headers })
      const fields = running.records.map((record) => record.fields)
      expect(fields.map((each) => [each['code'], each['subject'], each['tenant']])).to.deep.equal(
        Array(3).fill([code, subject, tenant]),
      )
      expect(JSON.stringify(fields)).not.to.match(/globex|root|admins/)
    })
})
