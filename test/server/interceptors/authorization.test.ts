import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { PermissionDenied } from '../../../lib/errors.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import type { Grant } from '../../../lib/server/authz/grant.js'
import { Caller, Metadata } from '../../../lib/call.js'
import { Deadline } from '../../../lib/server/chain/deadline.js'
import { Call } from '../../../lib/server/chain/call.js'
import { RelatedLists } from '../../../lib/server/expansion/related-lists.js'
import { OtherReads } from '../../../lib/server/row-access/other-reads.js'
import { ReferenceDecisions } from '../../../lib/server/row-access/reference-decisions.js'
import { Registry } from '../../../lib/server/methods/registry.js'
import { authorization } from '../../../lib/server/interceptors/authorization.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { RuleSet } from '../../../lib/server/authz/rules.js'
import {
  type EchoRequest,
  EchoRequestSchema,
  EchoResponseSchema,
  EchoService,
  SpecimenService,
} from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const OK = 0
const DENIED = 7

const grants: readonly Grant[] = [{ tenant: 'acme', subjects: ['group:makers'], verbs: ['*'], resource: '*' }]

describe('authorization', () => {
  let running: RunningServer

  before(async () => {
    running = await startServer((builder) => builder.register(SpecimenService, partly(SpecimenService, {})), {
      authorizer: devAuthorizer(grants),
    })
  })

  after(() => running.stop())

  it('returns 403 without identity through the gateway', async () => {
    const response = await fetch(`${running.http}/v1/specimens`)
    expect(response.status).to.equal(403)
    expect(await response.json()).to.deep.equal({ code: 7, message: 'permission denied', details: [] })
  })

  it('says the same of what is there and what is not', async () => {
    const [there, missing] = await Promise.all(
      ['/v1/specimens/1', '/v1/specimens/none'].map(async (path) =>
        (await fetch(running.http + path)).text(),
      ),
    )
    expect(there).to.equal(missing)
  })
})

describe('authorization without configuration', () => {
  it('denies every call that is not public', async () => {
    const none = { authorizer: undefined, principalFunc: undefined } as never
    const running = await startServer((builder) => builder.register(EchoService, echoService), none)
    const client = new ForeignClient(EchoService, running.grpc)
    expect((await client.unary('Echo', {}, ALICE)).code).to.equal(DENIED)
    expect((await client.stream('Chat', [{}], ALICE)).code).to.equal(DENIED)
    expect((await client.unary('Ping', {}, {})).code).to.equal(OK)
    client.close()
    await running.stop()
  })
})

describe('a rule with a template', () => {
  const zone7: Grant = { tenant: '*', subjects: ['*'], verbs: ['weigh', 'echo'], resource: 'specimen:7' }
  let running: RunningServer

  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(SpecimenService, partly(SpecimenService, { weighSpecimen: () => ({ id: '7' }) })),
      { authorizer: devAuthorizer([zone7]) },
    )
  })

  after(() => running.stop())

  const rows: readonly (readonly [string, number])[] = [
    ['7', 200],
    ['8', 403],
    ['*', 403],
    ['7:8', 403],
    ['%20', 403],
  ]
  for (const [id, status] of rows)
    it(`returns ${status} for specimen ${JSON.stringify(id)}`, async () => {
      const response = await fetch(`${running.http}/v1/specimens/${id}:weigh`, post(ALICE))
      expect(response.status).to.equal(status)
    })

  it('is asked about every message of a stream', async () => {
    const { chat } = EchoService.method
    const rule = { method: methodOf(chat).path, verb: 'echo', resource: 'echo:{text}' }
    const grant = { tenant: '*', subjects: ['*'], verbs: ['*'], resource: 'echo:a' }
    const principal = { subject: 'alice', tenant: 'acme', groups: [], scopes: [] }
    const authorizer = devAuthorizer([grant])
    const parts = [
      new Registry({ maxTotalSize: 1, maxPageBytes: 1_000, maxResponseBytes: 1_000 }),
      new RuleSet(),
      authorizer,
    ] as const
    const relatedLists = new RelatedLists(...parts)
    const references = new ReferenceDecisions(...parts)
    const otherReads = new OtherReads(...parts)
    const deciding = {
      authorizer,
      explainsDenials: false,
      relatedLists,
      references,
      otherReads,
      sharedWrites: new Set<string>(),
    }
    const interceptor = authorization(new RuleSet([rule]), () => principal, deciding, {
      onSystem: () => {},
      onFailure: () => {},
    })
    const seen: string[] = []
    const read = async (texts: readonly string[]) => {
      const caller = new Caller()
      const incoming = { method: chat, transport: 'grpc', caller, deadline: undefined, peer: '' } as const
      const metadata = { metadata: new Metadata(), headers: new Metadata(), trailers: new Metadata() }
      const call = new Call(
        methodOf(chat),
        { ...incoming, ...metadata, encode: () => 0 },
        undefined,
        requestsOf(texts),
        new Deadline(undefined, caller),
        undefined as never,
      )
      const facts = { requestId: '1', verified: undefined }
      const run = interceptor(
        async ({ requests }) => {
          for await (const message of requests ?? []) seen.push((message as EchoRequest).text)
          return create(EchoResponseSchema)
        },
        { method: methodOf(chat), handler: { rowAccess: 'none' } as never },
      )
      await run(Object.assign(call, facts) as never)
    }
    await read(['a', 'a'])
    expect(seen).to.deep.equal(['a', 'a'])
    for (const texts of [['b'], ['a', 'b', 'a'], []]) {
      seen.length = 0
      expect(await read(texts).catch((error: unknown) => error)).to.be.instanceOf(PermissionDenied)
      expect(seen).to.deep.equal(texts[0] === 'a' ? ['a'] : [])
    }
  })
})

async function* requestsOf(texts: readonly string[]) {
  for (const text of texts) yield await Promise.resolve(create(EchoRequestSchema, { text }))
}
