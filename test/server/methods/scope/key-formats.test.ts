import { expect } from 'chai'
import { create, type DescMessage, getExtension, setExtension } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Type as Type,
  type MethodDescriptorProto,
  type MethodOptions,
} from '@bufbuild/protobuf/wkt'
import { rule, RuleSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { Column, type ColumnOptions, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../../decorators/index.js'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { filter } from '../../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../../lib/server/authz/authorizer.js'
import type { Decision } from '../../../../lib/server/authz/decision.js'
import { MemoryIdempotencyStore } from '../../../../lib/server/idempotency/memory-idempotency-store.js'
import { collated } from '../../../conformance/repository/open-subject.js'
import { drill, drilling } from '../../../support/drill.js'
import { wireCall } from '../../../support/connect/wire-client.js'
import {
  type BackendName,
  backends,
  describeOn,
  type OpenBackend,
  pooled,
} from '../../../support/databases/backends.js'
import { TaskService } from '../../../support/gen/plans_pb.js'
import { altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../../support/servers/server.js'

interface Spelled {
  readonly name: string
  readonly column: ColumnOptions
  readonly design: unknown
  readonly wire: Type
  /** The row that a policy keeps back, and one that it does not. */
  readonly denied: string
  readonly open: string
  /** What is no row's. */
  readonly free: string
  readonly wrong: readonly string[]
}

const UUID = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
const UUIDS = {
  denied: UUID,
  open: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  free: '0189f7ea-ae2c-7809-8aeb-000000000000',
  wrong: [UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`, `${UUID} `],
} as const
const NUMBERS = {
  denied: '10',
  open: '7',
  free: '-10',
  wrong: ['010', '+10', ' 10', '10 ', '10.0', '1e1', '0xa', '10abc', '\uff11\uff10'],
} as const
/** What is nobody's key, of any type. */
const NEVER = [
  '1abc',
  '\0',
  '10\0',
  'x'.repeat(300),
  '1'.repeat(300),
  '99999999999999999999',
  '1/0',
  "1' OR '1'='1",
]

const TYPES: readonly Spelled[] = [
  { name: 'uuid', column: { type: 'uuid' }, design: String, wire: Type.STRING, ...UUIDS },
  { name: 'binary', column: { type: 'binary', length: 16 }, design: String, wire: Type.STRING, ...UUIDS },
  { name: 'int as a string', column: { type: 'int' }, design: Number, wire: Type.STRING, ...NUMBERS },
  { name: 'int', column: { type: 'int' }, design: Number, wire: Type.INT32, ...NUMBERS },
  { name: 'bigint as a string', column: { type: 'bigint' }, design: BigInt, wire: Type.STRING, ...NUMBERS },
  { name: 'bigint', column: { type: 'bigint' }, design: BigInt, wire: Type.INT64, ...NUMBERS },
  { name: 'digits of a bigint', column: { type: 'bigint' }, design: String, wire: Type.INT64, ...NUMBERS },
  {
    ...{ name: 'unsigned bigint as a string', column: { type: 'bigint', unsigned: true }, design: BigInt },
    ...{ wire: Type.STRING, ...NUMBERS, free: '11', wrong: [...NUMBERS.wrong, '-10'] },
  },
  { name: 'smallint', column: { type: 'smallint' }, design: Number, wire: Type.INT32, ...NUMBERS },
  {
    ...{ name: 'date', column: { type: 'date' }, design: String, wire: Type.STRING },
    ...{ denied: '2024-02-29', open: '2024-03-02', free: '2023-01-01' },
    wrong: ['2024-2-29', '20240229', '2024-02-29T00:00:00Z', '2024-02-30', '+2024-02-29', ' 2024-02-29'],
  },
]

/** Codes of gRPC, by the names and numbers that the other protocols give them. */
const [OK, INVALID, NOT_FOUND, EXISTS, DENIED, EXHAUSTED] = [0, 3, 5, 6, 7, 8] as const
const BY_NAME: Readonly<Record<string, number>> = {
  ok: OK,
  invalid_argument: INVALID,
  not_found: NOT_FOUND,
  permission_denied: DENIED,
  resource_exhausted: EXHAUSTED,
}
const BY_STATUS: Readonly<Record<number, number>> = {
  200: OK,
  400: INVALID,
  403: DENIED,
  404: NOT_FOUND,
  409: EXISTS,
  429: EXHAUSTED,
}

/** What a call came to: a code, or the status, name or number of something unexpected. */
type Came = number | string
type Calls = Readonly<Record<string, () => Promise<Came>>>

const SHARED: readonly BackendName[] = ['memory', 'sqlite', 'postgres', 'mariadb', 'mysql8', 'pgbouncer']

/** In `npm test` each backend is asked about some of the types, and each type on one or two of them. */
const isAskedOn =
  (name: BackendName) =>
  (_: Spelled, at: number): boolean =>
    drilling || (at + SHARED.indexOf(name)) % 5 === 0

describeOn('spellings of a key', [...backends, ...pooled], (backend) => {
  for (const { name, column, design, wire, denied, open, free, wrong } of TYPES.filter(
    isAskedOn(backend.name),
  ))
    describe(`that is ${name}`, () => {
      const service = altered(TaskService, (proto) => {
        for (const owner of ['Task', 'GetTaskRequest', 'DeleteTaskRequest', 'UndeleteTaskRequest'])
          for (const field of proto.message(owner).field)
            if (field.name === 'id' || field.name === 'after_id') field.type = wire
        for (const field of proto.message('BatchGetTasksRequest').field)
          if (field.name === 'ids') field.type = wire
        for (const field of ['project_id', 'project', 'lead_id', 'lead', 'after'])
          proto.removeField('Task', field)
        for (const one of proto.file.service)
          one.method = one.method.filter((method) => !['PlanTask', 'WatchTasks'].includes(method.name))
        for (const one of ['GetTask', 'DeleteTask', 'UndeleteTask']) nameIn(proto.method(one), 'id')
        for (const one of ['UpdateTask', 'CreateTask']) nameIn(proto.method(one), 'task.id')
      })
      const { method } = service
      const message = method.getTask.output as DescMessage
      const isText = wire === Type.STRING
      const texts = [...wrong, ...NEVER]
      /** As a message of a binary call holds a key. */
      const held = (text: string) =>
        wire === Type.INT32 ? Number(text) : wire === Type.INT64 ? BigInt(text) : text
      /** As a row holds it. */
      const stored = (text: string) =>
        design === Number ? Number(text) : design === BigInt ? BigInt(text) : text
      let opened: OpenBackend
      let running: RunningServer
      let grpc: ForeignClient
      let decide: (request: AuthorizationRequest) => Decision = () => true
      let requests = 0
      /** The buckets that calls were charged to. */
      const charged: string[] = []
      let isFull = false
      const consume = async (bucket: string) => {
        charged.push(bucket)
        if (isFull) throw { msBeforeNext: 1000 } as unknown as Error
      }

      const json = async (verb: string, path: string, body?: unknown, headers = {}): Promise<Came> => {
        const response = await fetch(`${running.http}${path}`, {
          method: verb,
          headers: { ...ALICE, 'content-type': 'application/json', ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        await response.arrayBuffer()
        return BY_STATUS[response.status] ?? `status ${response.status}`
      }
      const rpc = (called: string, body: unknown) => json('POST', `/plans.v1.TaskService/${called}`, body)
      const binary = async (
        protocol: 'connect' | 'grpc-web',
        called: (typeof method)[keyof typeof method],
        init: object,
      ): Promise<Came> => {
        const how = { protocol, codec: 'proto', compression: 'identity' } as const
        const { code } = await wireCall(running.http, how, called, init, { headers: ALICE })
        return BY_NAME[code] ?? `code ${code}`
      }
      const native = async (called: string, request: object): Promise<Came> =>
        (await grpc.unary(called, request, ALICE)).code

      /** Everything that names a row by this text, on every protocol. */
      const naming = (text: string): Calls => {
        const path = `/v1/tasks/${encodeURIComponent(text)}`
        const update = { task: { id: text, title: 'changed' }, updateMask: 'title' }
        const plain = {
          'HTTP get': () => json('GET', path),
          'HTTP update': () => json('PATCH', `${path}?update_mask=title`, { title: 'changed' }),
          'HTTP update with the key in the body': () =>
            json('PATCH', `${path}?update_mask=title`, { id: text, title: 'changed' }),
          'HTTP undelete': () => json('POST', `${path}:undelete`, {}),
          'HTTP delete': () => json('DELETE', path),
          'Connect JSON get': () => rpc('GetTask', { id: text }),
          'Connect JSON update': () => rpc('UpdateTask', update),
          'Connect JSON delete': () => rpc('DeleteTask', { id: text }),
        }
        if (!isText && String(Number(text)) !== text) return plain
        const init = { id: held(text) }
        const task = { task: { id: held(text), title: 'changed' }, updateMask: { paths: ['title'] } }
        return {
          ...plain,
          'Connect get': () => binary('connect', method.getTask, init),
          'Connect delete': () => binary('connect', method.deleteTask, init),
          'gRPC-Web get': () => binary('grpc-web', method.getTask, init),
          'gRPC-Web update': () => binary('grpc-web', method.updateTask, task),
          'gRPC get': () => native('GetTask', { id: text }),
          'gRPC update': () =>
            native('UpdateTask', { task: { id: text, title: 'changed' }, update_mask: { paths: ['title'] } }),
          'gRPC delete': () => native('DeleteTask', { id: text }),
        }
      }
      const several = (text: string): Calls => ({
        'HTTP batch': () => json('GET', `/v1/tasks:batchGet?ids=${open}&ids=${encodeURIComponent(text)}`),
        'HTTP batch of one': () => json('GET', `/v1/tasks:batchGet?ids=${encodeURIComponent(text)}`),
        'Connect JSON batch': () => rpc('BatchGetTasks', { ids: [open, text] }),
        'Connect JSON batch update': () =>
          rpc('BatchUpdateTasks', {
            requests: [open, text].map((id) => ({ task: { id, title: 'changed' }, updateMask: 'title' })),
          }),
        ...(isText && { 'gRPC batch': () => native('BatchGetTasks', { ids: [open, text] }) }),
      })
      /** In `npm test` each spelling meets some of the calls, and each call some of the spellings. */
      const some = (calls: Calls, at: number): Calls =>
        Object.fromEntries(Object.entries(calls).filter((_, index) => (index + at) % drill(6, 1) === 0))
      /** None of the calls did anything but say that there is no such row, or that this is not a key. */
      const refuses = async (calls: Calls, text: string, allowed: readonly Came[] = [INVALID, NOT_FOUND]) => {
        for (const [what, call] of Object.entries(calls)) {
          const code = await call()
          expect(code, `${what} of ${JSON.stringify(text)}`).to.be.oneOf(allowed)
        }
      }
      const titles = () =>
        fetch(`${running.http}/v1/tasks`, { headers: ALICE })
          .then((response) => response.json() as Promise<{ tasks: { id: unknown; title: string }[] }>)
          .then(({ tasks }) => Object.fromEntries(tasks.map(({ id, title }) => [String(id), title])))

      before(async () => {
        @Entity('spelled_tasks')
        @TenantScoped()
        @SoftDeletable()
        class Spelling {
          id!: never
          accountId!: string
          @Column() title!: string
          afterId?: never
          @ManyToOne(() => Spelling) @JoinColumn({ name: 'after_id' }) after?: Spelling
          @ETag() etag!: string
          deleteTime?: Date
        }
        for (const property of ['id', 'afterId'])
          Reflect.defineMetadata('design:type', design, Spelling.prototype, property)
        PrimaryColumn(column as never)(Spelling.prototype, 'id')
        Column({ ...column, nullable: true })(Spelling.prototype, 'afterId')
        Resource({ message, type: 'task' })(Spelling)
        opened = await backend.open([Spelling])
        const { dataSource, database } = opened
        if (dataSource !== undefined && database !== undefined)
          await createTables(collated(dataSource, backend), [Spelling], database.dialect.name)
        const tasks =
          dataSource === undefined
            ? new (memoryRepositoryOf(Spelling))()
            : new (repositoryOf(Spelling))(dataSource)
        running = await startServer((builder) => builder.register(service, tasks as never), {
          authorizer: { decidesByRow: true, authorize: (request) => decide(request) },
          gateway: { connect: true },
          idempotencyStore: new MemoryIdempotencyStore(),
          resilience: { rateLimiter: { consume } },
        })
        grpc = new ForeignClient(service, running.grpc)
        for (const id of [denied, open])
          expect(await json('POST', '/v1/tasks', { id, title: 'first' })).to.equal(OK)
      })
      after(async () => {
        grpc?.close()
        await running?.stop()
        await opened?.close()
      })
      beforeEach(() => (decide = () => true))
      afterEach(async () => {
        decide = () => true
        isFull = false
        expect(await titles()).to.deep.equal({ [denied]: 'first', [open]: 'first' })
      })

      it('other than its own reach no row of a policy that names it', async () => {
        decide = ({ resource }) => resource !== `task:${denied}`
        await refuses(naming(denied), denied, [DENIED, NOT_FOUND])
        for (const [at, text] of texts.entries())
          await refuses(some(naming(text), at), text, [INVALID, NOT_FOUND, DENIED])
      })

      it('other than its own reach no row that a decision leaves out', async () => {
        decide = () => ({ where: filter`NOT id = ${stored(denied) as never}` })
        await refuses({ ...naming(denied), ...several(denied) }, denied, [NOT_FOUND])
        for (const [at, text] of texts.entries())
          await refuses(some({ ...naming(text), ...several(text) }, at), text)
      })

      it('other than its own refer to nothing, and make no second row', async () => {
        for (const [at, text] of texts.entries()) {
          const isNumber = !isText && Number(text) === Number(denied) && !/[xX\0]/.test(text)
          const body = { title: 'refers', after_id: text }
          if (isNumber) continue
          await refuses(
            some(
              {
                'HTTP reference': () => json('PATCH', `/v1/tasks/${open}?update_mask=after_id`, body),
                'Connect JSON reference': () =>
                  rpc('UpdateTask', { task: { id: open, afterId: text }, updateMask: 'afterId' }),
                'HTTP create': () => json('POST', '/v1/tasks', { id: text, title: 'second' }),
                'Connect JSON create': () => rpc('CreateTask', { task: { id: text, title: 'second' } }),
                'HTTP filter': () =>
                  json('GET', `/v1/tasks?filter=${encodeURIComponent(`id = ${JSON.stringify(text)}`)}`),
                ...(isText && {
                  'gRPC create': () => native('CreateTask', { task: { id: text, title: 'second' } }),
                  'gRPC reference': () =>
                    native('UpdateTask', {
                      task: { id: open, after_id: text },
                      update_mask: { paths: ['after_id'] },
                    }),
                }),
              },
              at,
            ),
            text,
          )
        }
      })

      it('are checked by a dry run as by a call', async () => {
        const dry = (id: string) => json('POST', '/v1/tasks?validate_only=true', { id, title: 'dry' })
        const path = (id: string) =>
          `/v1/tasks/${encodeURIComponent(id)}?update_mask=title&validate_only=true`
        expect(await dry(free)).to.equal(OK)
        expect(await dry(denied)).to.equal(EXISTS)
        expect(await json('PATCH', path(denied), { title: 'dry' })).to.equal(OK)
        expect(await json('PATCH', path(free), { title: 'dry' })).to.equal(NOT_FOUND)
        for (const text of isText ? texts : NEVER) {
          expect(await dry(text), text).to.equal(INVALID)
          expect(await json('PATCH', path(text), { title: 'dry' }), text).to.be.oneOf([INVALID, NOT_FOUND])
        }
      })

      it('other than its own are given no kept response', async () => {
        const key = { 'idempotency-key': `spelled-${++requests}` }
        const path = (text: string) => `/v1/tasks/${encodeURIComponent(text)}?update_mask=title`
        expect(await json('PATCH', path(open), { title: 'first' }, key)).to.equal(OK)
        expect(await json('PATCH', path(open), { title: 'first' }, key)).to.equal(OK)
        expect(await json('PATCH', path(denied), { title: 'first' }, key)).not.to.equal(OK)
        for (const text of texts)
          expect(await json('PATCH', path(text), { title: 'first' }, key), text).to.be.oneOf([
            INVALID,
            NOT_FOUND,
          ])
      })

      it('other than its own are charged like its own, and go by no limit', async () => {
        decide = () => ({ where: filter`NOT id = ${stored(denied) as never}` })
        const mine = `tenant:${ALICE['account-id']}`
        for (const [at, text] of texts.entries()) {
          const calls = some({ ...naming(text), ...several(text) }, at)
          charged.length = 0
          await refuses(calls, text)
          const expected = Object.keys(calls).map(() => mine)
          expect(charged, JSON.stringify(text)).to.deep.equal(expected)
        }
        isFull = true
        await refuses({ ...naming(denied), ...several(denied) }, denied, [EXHAUSTED])
        for (const [at, text] of texts.entries())
          await refuses(some({ ...naming(text), ...several(text) }, at), text, [EXHAUSTED])
      })

      it('other than its own spoil no call that shares its statement', async () => {
        const codes = await Promise.all(
          [open, ...texts, denied].map((text) => json('GET', `/v1/tasks/${encodeURIComponent(text)}`)),
        )
        expect([codes.at(0), codes.at(-1)]).to.deep.equal([OK, OK])
        if (isText) expect(new Set(codes.slice(1, -1)), codes.join()).to.deep.equal(new Set([NOT_FOUND]))
        expect(codes.filter((code) => typeof code === 'string')).to.deep.equal([])
      })
    })
})

/** The rule of a method names the row. */
function nameIn(method: MethodDescriptorProto, field: string): void {
  const options = method.options as MethodOptions
  setExtension(
    options,
    rule,
    create(RuleSchema, { ...getExtension(options, rule), resource: `task:{${field}}` }),
  )
}
