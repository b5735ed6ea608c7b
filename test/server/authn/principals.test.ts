import { inspect } from 'node:util'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { ANONYMOUS, type Principal, RequestContext } from '../../../lib/context.js'
import { PermissionDenied } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import type { ServerCall } from '../../../lib/call.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import type { UserInterceptor } from '../../../lib/server/chain/user-interceptor.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'
import { echoService } from '../../support/grpc/echo.js'

/** What a principal function or an authenticator of plain JavaScript finds. */
let found: unknown

const whoami = (_request: unknown, { principal, context }: ServerCall) => ({
  text: JSON.stringify([principal, context.principal === principal, context.tenant]),
})

/** The same thing found by a function, by one that needs time, and by an authenticator. */
const FINDERS = {
  'a principal function': { principalFunc: () => found as Principal },
  'a principal function that needs time': { principalFunc: async () => Promise.resolve(found as Principal) },
  'an authenticator': {
    authenticator: { authenticate: async () => Promise.resolve(found as Principal) },
    principalFunc: verifiedPrincipal,
  },
}

for (const [finder, config] of Object.entries(FINDERS))
  describe(`what ${finder} finds`, () => {
    let running: RunningServer
    let client: ForeignClient
    before(async () => {
      running = await startServer(
        (builder) => builder.register(EchoService, { ...echoService, echo: whoami, ping: whoami }),
        config,
      )
      client = new ForeignClient(EchoService, running.grpc)
    })
    after(async () => {
      client.close()
      await running.stop()
    })

    const bearer = { authorization: 'Bearer x' }
    const thenable = { subject: 'alice', tenant: 'acme', groups: ['a'], scopes: [], then: undefined }
    for (const nobody of [
      {},
      undefined,
      null,
      '',
      'alice',
      7,
      true,
      [],
      { subject: undefined, tenant: undefined, groups: undefined, scopes: undefined },
      { subject: null, tenant: null, groups: null },
      { subject: '', tenant: '', groups: [] },
      { subject: 7, tenant: {}, groups: 'admins' },
      { groups: [7, null, {}] },
      { groups: { 0: 'admins', length: 1 } },
      { scopes: ['all'] },
      Object.create(null) as object,
      () => 'alice',
      thenable,
    ])
      it(`is nobody when it is ${inspect(nobody, { breakLength: Infinity })}`, async () => {
        found = nobody
        expect((await client.unary('Echo', {}, bearer)).code).to.equal(status.PERMISSION_DENIED)
        expect((await client.stream('Chat', [{}], bearer)).code).to.equal(status.PERMISSION_DENIED)
        expect((await fetch(`${running.http}/v1/echo`, post(bearer))).status).to.equal(403)
        const open = await client.unary('Ping', {}, bearer)
        const [principal, same, tenant] = JSON.parse(String(open.answer?.['text'])) as [
          object,
          boolean,
          string,
        ]
        expect([same, tenant]).to.deep.equal([true, ''])
        expect(principal).to.deep.include({ subject: '', tenant: '', groups: [] })
      })

    it('is somebody without what is missing, or of a wrong type', async () => {
      found = { subject: 'alice', tenant: undefined, groups: ['makers', 7, null, 'staff'] }
      const { answer } = await client.unary('Echo', {}, bearer)
      expect(JSON.parse(String(answer?.['text']))).to.deep.equal([
        { subject: 'alice', tenant: '', groups: ['makers', 'staff'], scopes: [] },
        true,
        '',
      ])
    })
  })

describe('a thenable that a principal function returns', () => {
  for (const then of [
    (resolve: (value: unknown) => void) =>
      resolve({ subject: 'root', tenant: 'acme', groups: [], scopes: [] }),
    () => {},
  ])
    it('is nobody, and is not waited for', async () => {
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        principalFunc: () => ({ then }) as never,
      })
      try {
        expect((await fetch(`${running.http}/v1/echo`, post({}))).status).to.equal(403)
        expect((await fetch(`${running.http}/v1/ping`)).status).to.equal(200)
      } finally {
        await running.stop()
      }
    })
})

describe('RequestContext', () => {
  it('keeps a principal that nobody can change, with all that is in it', () => {
    const given = {
      subject: 'alice',
      tenant: 'acme',
      groups: ['makers'],
      scopes: ['read'],
      claims: { tenant: 'acme', roles: ['a', { deep: { deeper: ['b'] } }] },
    }
    const { principal } = new RequestContext({ principal: given })
    const before = structuredClone(given)
    Object.assign(given, { tenant: 'globex' })
    given.groups.push('admins')
    given.claims.roles.push('root')
    expect(principal).to.deep.equal(before)
    const parts: unknown[] = [principal]
    for (const part of parts) {
      expect(Object.isFrozen(part), inspect(part)).to.equal(true)
      parts.push(...(Object.values(part as object) as unknown[]).filter((value) => typeof value === 'object'))
    }
    expect(parts).to.have.length(8)
  })

  it('keeps the class of a principal, and its methods', () => {
    class Employee implements Principal {
      readonly groups = ['makers']
      readonly scopes = []
      constructor(readonly subject: string) {}
      get tenant() {
        return 'acme'
      }
      isIn(group: string) {
        return this.groups.includes(group)
      }
    }
    const { principal, tenant } = new RequestContext({ principal: new Employee('alice') })
    expect(principal).to.be.instanceOf(Employee)
    expect((principal as Employee).isIn('makers')).to.equal(true)
    expect([principal.tenant, tenant]).to.deep.equal(['acme', 'acme'])
    expect(Reflect.set(principal, 'tenant', 'globex')).to.equal(false)
    expect(principal.tenant).to.equal('acme')
  })

  it('has a nobody that stays nobody', () => {
    expect(() => (ANONYMOUS.groups as string[]).push('admins')).to.throw(TypeError)
    expect(Reflect.set(ANONYMOUS, 'tenant', 'acme')).to.equal(false)
    expect(ANONYMOUS).to.deep.equal({ subject: '', tenant: '', groups: [], scopes: [] })
  })

  it('is itself fixed', () => {
    const context = new RequestContext({
      principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] },
    })
    for (const [name, value] of [
      ['principal', ANONYMOUS],
      ['system', {}],
      ['tenant', 'globex'],
      ['transaction', {}],
    ] as const)
      expect(Reflect.set(context, name, value), name).to.equal(false)
    expect(Reflect.defineProperty(context, 'tenant', { value: 'globex' })).to.equal(false)
    expect([context.tenant, context.system]).to.deep.equal(['acme', undefined])
  })

  it('reaches no row as a promise or as nothing', async () => {
    const specimens = new MemoryRepository(Specimen, { minter: new CredentialMinter() })
    for (const nobody of [{}, { tenant: undefined }, { tenant: 7 }, Promise.resolve({ tenant: 'acme' })])
      await rejection(
        RequestContext.as(nobody as never, () => specimens.list()),
        PermissionDenied,
      )
  })
})

describe('an interceptor that would be somebody else', () => {
  const specimens = new MemoryRepository(Specimen, { minter: new CredentialMinter() })
  const globex = { subject: 'bob', tenant: 'globex', groups: ['makers'], scopes: [] }
  const theirs = new RequestContext({ principal: globex })
  const system = new RequestContext({ system: { reason: 'stolen' } })
  before(async () => {
    await RequestContext.as(globex, () => specimens.create({ id: 'theirs', code: 'c' }))
    await RequestContext.as({ ...globex, tenant: 'acme' }, () => specimens.create({ id: 'ours', code: 'c' }))
  })

  const quietly = (...changes: (() => unknown)[]): void => {
    for (const change of changes) {
      try {
        change()
      } catch (error) {
        expect(error).to.be.instanceOf(TypeError)
      }
    }
  }
  const attempts: Readonly<Record<string, UserInterceptor>> = {
    'assigns call.context': (call, next) => {
      quietly(() => Object.assign(call, { context: theirs }))
      return next()
    },
    'assigns a system context': (call, next) => {
      quietly(() => Object.assign(call, { context: system }))
      return next()
    },
    'assigns call.principal': (call, next) => {
      quietly(() => Object.assign(call, { principal: globex }))
      return next()
    },
    'assigns while the handler runs': async (call, next) => {
      const reply = next()
      quietly(() => Object.assign(call, { context: theirs, principal: globex }))
      return reply
    },
    'puts facts on the call as the framework does': (call, next) => {
      quietly(() =>
        (call as unknown as { with(facts: object): void }).with({ context: theirs, principal: globex }),
      )
      return next()
    },
    'defines another context': (call, next) => {
      quietly(() => Object.defineProperty(call, 'context', { value: theirs, configurable: true }))
      return next()
    },
    'changes the principal': ({ principal, context }, next) => {
      for (const one of [principal, context.principal])
        quietly(
          () => Object.assign(one, { tenant: 'globex' }),
          () => (one.groups as string[]).push('admins'),
          () => Object.setPrototypeOf(one, globex),
          () => Reflect.deleteProperty(one, 'tenant'),
        )
      return next()
    },
    'changes the context': ({ context }, next) => {
      quietly(
        () => Object.assign(context, { principal: globex }),
        () => Object.assign(context, { system: {} }),
        () => Object.defineProperty(context, 'tenant', { value: 'globex' }),
      )
      return next()
    },
    'runs the rest as somebody else': (_call, next) => RequestContext.as(globex, () => next()),
    'runs the rest as system': (_call, next) => RequestContext.asSystem(() => next()),
  }
  for (const [what, interceptor] of Object.entries(attempts))
    it(`reaches no other row when it ${what}`, async () => {
      const weighSpecimen = async ({ id }: { id: string }, call: ServerCall) => {
        await new Promise((resolve) => setImmediate(resolve))
        expect([call.principal.tenant, call.context.tenant, RequestContext.current().tenant]).to.deep.equal([
          ...['acme', 'acme', 'acme'],
        ])
        return specimens.model.toMessage(await specimens.get(id)) as never
      }
      const running = await startServer(
        (builder) => builder.register(SpecimenService, specimens, { weighSpecimen }),
        { interceptors: [interceptor, (_call, next) => next()] },
      )
      const client = new ForeignClient(SpecimenService, running.grpc)
      const codes: number[] = []
      for (const method of ['GetSpecimen', 'WeighSpecimen'])
        for (const id of ['ours', 'theirs']) codes.push((await client.unary(method, { id }, ALICE)).code)
      const statuses: number[] = []
      for (const id of ['ours', 'theirs'])
        statuses.push((await fetch(`${running.http}/v1/specimens/${id}`, { headers: ALICE })).status)
      client.close()
      await running.stop()
      const { OK, NOT_FOUND } = status
      expect([codes, statuses]).to.deep.equal([
        [OK, NOT_FOUND, OK, NOT_FOUND],
        [200, 404],
      ])
    })
})
