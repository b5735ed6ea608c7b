import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import {
  file_google_longrunning_operations,
  Operations,
} from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import type { Grant } from '../../../lib/server/authz/grant.js'
import { altered } from '../../support/grpc/altered.js'
import { EchoService, NoteService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/** With a method that answers an operation, so that whoever may call it can ask about operations, too. */
const Echo = altered(
  EchoService,
  (proto) => void (proto.method('Download').outputType = '.google.longrunning.Operation'),
  [file_google_longrunning_operations],
)

/** Who asks: [name, headers, whether the grants below allow everything to them]. */
const callers: readonly (readonly [string, Record<string, string | string[]>, boolean])[] = [
  ['no identity', {}, false],
  ['an unknown header', { 'x-subject': 'alice' }, false],
  ['the wrong tenant', { ...ALICE, 'account-id': 'other' }, false],
  ['no tenant', { subject: 'alice', groups: 'makers' }, false],
  ['no grant', { 'account-id': 'acme', subject: 'bob' }, false],
  ['another group', { 'account-id': 'acme', subject: 'bob', groups: 'guests' }, false],
  ['a subject that calls itself a group', { 'account-id': 'acme', subject: 'group:makers' }, false],
  ['a wildcard for a subject', { 'account-id': 'acme', subject: '*', groups: '*' }, false],
  ['a grant by group', ALICE, true],
  ['a grant by one group of several', { 'account-id': 'acme', groups: 'guests, makers' }, true],
  ['a grant by a repeated groups header', { 'account-id': 'acme', groups: ['guests', 'makers'] }, true],
]

const grants: readonly Grant[] = [{ tenant: 'acme', subjects: ['group:makers'], verbs: ['*'], resource: '*' }]

/** All that anybody may call. A method that joins them has to be named here. */
const PUBLIC = [
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
  '/grpc.health.v1.Health/List',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
  '/specimens.v1.EchoService/Ping',
]

/** [code over gRPC, status over HTTP] */
const DENIED = [7, 403] as const
const ALLOWED = [0, 200] as const
/** Of an operation that is not there: who may ask is told so. */
const MISSING = [5, 404] as const

const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`

/** What a method answers to whoever may call it. */
const granted = ({ parent, name }: DescMethod) =>
  parent.typeName === Operations.typeName && name !== 'ListOperations' ? MISSING : ALLOWED

const fieldToUpdate = ({ parent }: DescMethod): string => (parent === NoteService ? 'text' : 'title')

const hasMask = ({ input }: DescMethod): boolean => input.fields.some(({ name }) => name === 'update_mask')

const requestOf = (method: DescMethod): object => {
  if (method.name === 'ServerReflectionInfo') return { list_services: '' }
  return hasMask(method) ? { update_mask: { paths: [fieldToUpdate(method)] } } : {}
}

/** Every way to say a method in HTTP, the additional ones too: [method, path, body or none]. */
const bindingsOf = (method: DescMethod): readonly (readonly [string, string, object | undefined])[] => {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings].map(({ pattern, body }) => {
    if (pattern.case === undefined || pattern.case === 'custom') throw new TypeError(pathOf(method))
    const path = pattern.value.replaceAll(/\{[\w.]+(?:=([^}]*))?\}/g, (_, wanted = '*') =>
      String(wanted).replaceAll(/\*+/g, 'x'),
    )
    const query = hasMask(method) ? `?update_mask=${fieldToUpdate(method)}` : ''
    return [pattern.case.toUpperCase(), path + query, body === '' ? undefined : {}]
  })
}

const routesTo = (method: DescMethod): number => 1 + bindingsOf(method).length

describe('the authorization matrix', () => {
  const callable = [Echo, SpecimenService, NoteService]
  let running: RunningServer
  let services: readonly DescService[]
  const clients = new Map<string, ForeignClient>()

  before(async () => {
    const empty = ({ methods }: DescService) =>
      Object.fromEntries(methods.map(({ localName }) => [localName, () => ({})]))
    running = await startServer(
      (builder) => {
        builder.register(Echo, { ...echoService, download: () => ({}) } as never)
        for (const service of [SpecimenService, NoteService])
          builder.register(service, partly(service, empty(service)))
      },
      { authorizer: devAuthorizer(grants), reflection: true },
    )
    services = [...running.server.services().keys()]
    for (const service of services) clients.set(service.typeName, new ForeignClient(service, running.grpc))
  })

  after(async () => {
    for (const client of clients.values()) client.close()
    await running.stop()
  })

  const overGrpc = async (
    method: DescMethod,
    headers: Record<string, string | string[]>,
  ): Promise<number> => {
    const client = clients.get(method.parent.typeName) as ForeignClient
    const request = requestOf(method)
    const { code } =
      method.methodKind === 'unary'
        ? await client.unary(method.name, request, headers)
        : await client.stream(method.name, [request], headers, method.name === 'Watch' ? 1 : undefined)
    return code
  }

  const overHttp = async (
    [method, path, body]: ReturnType<typeof bindingsOf>[number],
    given: Record<string, string | string[]>,
  ): Promise<number> => {
    const headers = Object.entries(given).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    )
    const init = body === undefined ? { method } : post({}, body, method)
    const content = body === undefined ? [] : [['content-type', 'application/json'] as [string, string]]
    const response = await fetch(running.http + path, { ...init, headers: [...headers, ...content] })
    await response.arrayBuffer()
    return response.status
  }

  it('is about every service that is registered, and knows what is public', () => {
    const names = services.map(({ typeName }) => typeName)
    expect(names).to.include.members([
      ...callable.map(({ typeName }) => typeName),
      ...[Operations.typeName, 'grpc.health.v1.Health'],
      ...['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'],
    ])
    const open = running.server.rules().filter((rule) => rule.public === true)
    expect(open.map(({ method }) => method).sort()).to.deep.equal([...PUBLIC].sort())
    const methods = services.flatMap((service) => service.methods)
    expect(methods.filter(({ methodKind }) => methodKind !== 'unary').length).to.be.at.least(6)
    expect(methods.reduce((sum, method) => sum + routesTo(method), 0)).to.be.at.least(55)
    expect(bindingsOf(Echo.method.echo)).to.have.length(4)
    expect(bindingsOf(Operations.method.getOperation)).to.have.length(1)
  })

  for (const [who, headers, mayAll] of callers) {
    const expected = (method: DescMethod) =>
      mayAll || PUBLIC.includes(pathOf(method)) ? granted(method) : DENIED

    it(`treats ${who} over gRPC, method by method`, async () => {
      for (const method of services.flatMap((service) => service.methods)) {
        const [code] = expected(method)
        expect([pathOf(method), await overGrpc(method, headers)]).to.deep.equal([pathOf(method), code])
      }
    })

    it(`treats ${who} over HTTP, binding by binding`, async () => {
      for (const method of services.flatMap((service) => service.methods))
        for (const binding of bindingsOf(method)) {
          const [verb, path] = binding
          const [, status] = expected(method)
          expect([verb, path, await overHttp(binding, headers)]).to.deep.equal([verb, path, status])
        }
    })
  }
})
