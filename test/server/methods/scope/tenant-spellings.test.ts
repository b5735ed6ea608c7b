import { expect } from 'chai'
import type { DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, type ColumnOptions, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../../decorators/index.js'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../../lib/persistence/repository-of.js'
import type { EntityClass } from '../../../../lib/resource/resource-model.js'
import { ServerBuilder } from '../../../../lib/server/server-builder.js'
import { securityCheck } from '../../../../lib/testing/index.js'
import { collated } from '../../../conformance/repository/open-subject.js'
import { drill, drilling } from '../../../support/drill.js'
import { wireCall } from '../../../support/connect/wire-client.js'
import { backends, describeOn, coalesced, type OpenBackend } from '../../../support/databases/backends.js'
import { TaskService } from '../../../support/gen/plans_pb.js'
import { altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { type RunningServer, startServer } from '../../../support/servers/server.js'

interface Spelled {
  readonly name: string
  readonly column: ColumnOptions
  readonly design: unknown
  readonly wire: Type
  /** Who has rows, and somebody else. */
  readonly tenant: string
  readonly other: string
  readonly wrong: readonly string[]
}

const UUID = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
/** What is nobody, of any type. */
const NEVER = ['\0', '\ud800', 'x'.repeat(300), "10' OR '1'='1", '*', '10/a', '10,7']
const NUMBERS = {
  tenant: '10',
  other: '7',
  wrong: [
    ...['010', '+10', ' 10', '10 ', '10.0', '1e1', '0xa', '10abc', '\uff11\uff10', '10\0', '-0'],
    ...['99999999999999999999', '1'.repeat(300), ...NEVER],
  ],
}

const TYPES: readonly Spelled[] = [
  {
    ...{ name: 'uuid', column: { type: 'uuid' }, design: String, wire: Type.STRING },
    ...{ tenant: UUID, other: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
    wrong: [
      ...[UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`, `${UUID} `],
      ...NEVER,
    ],
  },
  { name: 'int', column: { type: 'int' }, design: Number, wire: Type.STRING, ...NUMBERS },
  { name: 'bigint', column: { type: 'bigint' }, design: BigInt, wire: Type.INT64, ...NUMBERS },
]

/** Codes of gRPC, by the names and numbers that the other protocols give them. */
const [OK, NOT_FOUND, DENIED] = [0, 5, 7] as const
const BY_NAME: Readonly<Record<string, number>> = { ok: OK, not_found: NOT_FOUND, permission_denied: DENIED }
const BY_STATUS: Readonly<Record<number, number>> = { 200: OK, 403: DENIED, 404: NOT_FOUND }

/** What a call came to: a code, or the status or name of something unexpected; and what was returned. */
interface Came {
  readonly code: number | string
  readonly said: string
}
type Calls = Readonly<Record<string, () => Promise<Came>>>

/** No header holds each of the texts. */
const headersOf = (tenant: string) => ({
  subject: 'alice',
  'account-id': Buffer.from(tenant, 'utf16le').toString('hex'),
})
const tenantOf = (hex: string | undefined) => Buffer.from(hex ?? '', 'hex').toString('utf16le')

/** The engines that are servers are asked in the drill. */
const asked = [...backends, ...coalesced].filter(
  ({ name }) => drilling || name === 'memory' || name === 'sqlite',
)

describeOn('spellings of a tenant', asked, (backend) => {
  for (const { name, column, design, wire, tenant, other, wrong } of TYPES)
    describe(`that is ${name}`, () => {
      const service = altered(TaskService, (proto) => {
        for (const field of proto.message('Task').field)
          if (field.name === 'account_id') {
            field.name = 'org_id'
            field.jsonName = 'orgId'
            field.type = wire
          }
        for (const field of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after'])
          proto.removeField('Task', field)
        for (const one of proto.file.service)
          one.method = one.method.filter((method) => !['PlanTask', 'WatchTasks'].includes(method.name))
      })
      const { method } = service
      let opened: OpenBackend
      let running: RunningServer
      let grpc: ForeignClient
      let entity: EntityClass<object>

      const json = async (by: string, verb: string, path: string, body?: unknown): Promise<Came> => {
        const response = await fetch(`${running.http}${path}`, {
          method: verb,
          headers: { ...headersOf(by), 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const said = await response.text()
        return { code: BY_STATUS[response.status] ?? `status ${response.status}`, said }
      }
      const rpc = (by: string, called: string, body: unknown) =>
        json(by, 'POST', `/plans.v1.TaskService/${called}`, body)
      const binary = async (
        by: string,
        protocol: 'connect' | 'grpc-web',
        called: (typeof method)[keyof typeof method],
        init: object,
      ): Promise<Came> => {
        const how = { protocol, codec: 'proto', compression: 'identity' } as const
        const { code, ...said } = await wireCall(running.http, how, called, init, { headers: headersOf(by) })
        return { code: BY_NAME[code] ?? `code ${code}`, said: shown(said) }
      }
      const native = async (by: string, called: string, request: object): Promise<Came> => {
        const { code, ...said } = await grpc.unary(called, request, headersOf(by))
        return { code, said: shown(said) }
      }
      const update = { task: { id: 'a', title: 'changed' }, updateMask: { paths: ['title'] } }

      /** What names the row, on every protocol. */
      const naming = (by: string): Calls => ({
        'HTTP get': () => json(by, 'GET', '/v1/tasks/a'),
        'HTTP update': () => json(by, 'PATCH', '/v1/tasks/a?update_mask=title', { title: 'changed' }),
        'HTTP undelete': () => json(by, 'POST', '/v1/tasks/a:undelete', {}),
        'HTTP delete': () => json(by, 'DELETE', '/v1/tasks/a'),
        'HTTP batch': () => json(by, 'GET', '/v1/tasks:batchGet?ids=a'),
        'Connect JSON update': () =>
          rpc(by, 'UpdateTask', { task: { id: 'a', title: 'changed' }, updateMask: 'title' }),
        'Connect JSON batch update': () =>
          rpc(by, 'BatchUpdateTasks', {
            requests: [{ task: { id: 'a', title: 'changed' }, updateMask: 'title' }],
          }),
        'Connect get': () => binary(by, 'connect', method.getTask, { id: 'a' }),
        'Connect delete': () => binary(by, 'connect', method.deleteTask, { id: 'a' }),
        'gRPC-Web get': () => binary(by, 'grpc-web', method.getTask, { id: 'a' }),
        'gRPC-Web update': () => binary(by, 'grpc-web', method.updateTask, update),
        'gRPC get': () => native(by, 'GetTask', { id: 'a' }),
        'gRPC update': () =>
          native(by, 'UpdateTask', { task: update.task, update_mask: { paths: ['title'] } }),
        'gRPC delete': () => native(by, 'DeleteTask', { id: 'a' }),
      })
      const listing = (by: string): Calls => ({
        'HTTP list': () => json(by, 'GET', '/v1/tasks?show_deleted=true'),
        'HTTP filter': () => json(by, 'GET', `/v1/tasks?filter=${encodeURIComponent('title = "first"')}`),
        'Connect JSON list': () => rpc(by, 'ListTasks', {}),
        'gRPC-Web list': () => binary(by, 'grpc-web', method.listTasks, {}),
        'gRPC list': () => native(by, 'ListTasks', {}),
      })
      const creating = (by: string): Calls => {
        const task = { id: 'b', title: 'second' }
        return {
          'HTTP create': () => json(by, 'POST', '/v1/tasks', { ...task, orgId: tenant }),
          'Connect JSON create': () => rpc(by, 'CreateTask', { task }),
          'gRPC create': () => native(by, 'CreateTask', { task }),
        }
      }
      /** In `npm test` each spelling meets some of the calls, and each call some of the spellings. */
      const some = (calls: Calls, at: number): Calls =>
        Object.fromEntries(Object.entries(calls).filter((_, index) => (index + at) % drill(4, 1) === 0))
      const all = async (calls: Calls, by: string, allowed: readonly number[]) => {
        for (const [what, call] of Object.entries(calls)) {
          const { code, said } = await call()
          expect(code, `${what} as ${JSON.stringify(by)}: ${said}`).to.be.oneOf(allowed)
          expect(said, `${what} as ${JSON.stringify(by)}`).not.to.include('first')
        }
      }

      before(async () => {
        @Entity('spelled_tenants')
        @TenantScoped({ column: 'orgId' })
        @SoftDeletable()
        class Spelling {
          @PrimaryColumn() id!: string
          orgId!: never
          @Column() title!: string
          @ETag() etag!: string
          deleteTime?: Date
        }
        entity = Spelling
        Reflect.defineMetadata('design:type', design, Spelling.prototype, 'orgId')
        Column({ ...column })(Spelling.prototype, 'orgId')
        Resource({ message: method.getTask.output as DescMessage, type: 'task' })(Spelling)
        opened = await backend.open([Spelling])
        const { dataSource, database } = opened
        if (dataSource !== undefined && database !== undefined)
          await createTables(collated(dataSource, backend), [Spelling], database.dialect.name)
        const tasks =
          dataSource === undefined
            ? new (memoryRepositoryOf(Spelling))()
            : new (repositoryOf(Spelling))(dataSource)
        running = await startServer((builder) => builder.register(service, tasks as never), {
          authorizer: { authorize: () => true },
          principalFunc: ({ metadata }) => ({
            subject: metadata.get('subject') ?? '',
            tenant: tenantOf(metadata.get('account-id')),
            groups: [],
            scopes: [],
          }),
          gateway: { connect: true },
        })
        grpc = new ForeignClient(service, running.grpc)
        const made = await json(tenant, 'POST', '/v1/tasks', { id: 'a', title: 'first', orgId: other })
        expect(made).to.include({ code: OK })
        expect(JSON.parse(made.said)).to.include({ orgId: tenant })
      })
      after(async () => {
        grpc?.close()
        await running?.stop()
        await opened?.close()
      })
      afterEach(async () => {
        const { said } = await json(tenant, 'GET', '/v1/tasks')
        const { tasks } = JSON.parse(said) as { readonly tasks: readonly object[] }
        expect(tasks).to.have.length(1)
        expect(tasks[0]).to.include({ id: 'a', title: 'first', orgId: tenant })
      })

      it('other than its own reach no row, and make none', async () => {
        for (const [at, by] of wrong.entries()) {
          await all(some(naming(by), at), by, [NOT_FOUND, DENIED])
          await all(some(listing(by), at), by, [OK, DENIED])
          await all(some(creating(by), at), by, [DENIED])
        }
        await all(naming(other), other, [NOT_FOUND])
        await all(listing(other), other, [OK])
      })

      it('other than its own spoil no call that shares its statement', async () => {
        const came = await Promise.all(
          [tenant, ...wrong, other, tenant].map((by) => json(by, 'GET', '/v1/tasks/a')),
        )
        const codes = came.map(({ code }) => code)
        expect([codes.at(0), codes.at(-1)]).to.deep.equal([OK, OK])
        for (const code of codes.slice(1, -1)) expect(code).to.be.oneOf([NOT_FOUND, DENIED])
      })

      it('pass the check of security', async () => {
        const { dataSource } = opened
        if (dataSource !== undefined && !drilling) return
        const tasks = new (memoryRepositoryOf(entity))()
        const builder = new ServerBuilder().allowDevelopment().register(service, tasks as never)
        const { findings, notChecked } = await securityCheck(builder)
        expect({ findings, notChecked }).to.deep.equal({ findings: [], notChecked: [] })
      })
    })
})

const shown = (said: unknown): string =>
  JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
