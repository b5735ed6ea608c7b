import { expect } from 'chai'
import type { DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, type ColumnOptions, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

interface WireType {
  readonly name: string
  readonly column: ColumnOptions
  readonly design: unknown
  readonly wire: Type
  /** As JSON has them, in their order. */
  readonly keys: readonly [unknown, unknown]
  /** Other spellings of the first, and what is not a key. */
  readonly wrong: readonly string[]
}

const UUIDS = ['0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const
const TYPES: readonly WireType[] = [
  {
    name: 'a uuid as a string',
    column: { type: 'uuid' },
    design: String,
    wire: Type.STRING,
    keys: UUIDS,
    wrong: [UUIDS[0].toUpperCase(), UUIDS[0].replaceAll('-', ''), 'x', '%00', 'x'.repeat(300)],
  },
  {
    name: 'an int as a string',
    column: { type: 'int' },
    design: Number,
    wire: Type.STRING,
    keys: ['7', '10'],
    wrong: ['007', '+7', '7.0', '7e0', '%207', '7abc', '%EF%BC%97', '%00', '9'.repeat(300)],
  },
  { name: 'an int', column: { type: 'int' }, design: Number, wire: Type.INT32, keys: [7, 10], wrong: [] },
  {
    name: 'a bigint',
    column: { type: 'bigint' },
    design: BigInt,
    wire: Type.INT64,
    keys: ['7', '9007199254740993'],
    wrong: [],
  },
  {
    name: 'a bigint whose property is a string',
    column: { type: 'bigint' },
    design: String,
    wire: Type.INT64,
    keys: ['7', '9007199254740993'],
    wrong: [],
  },
]

/** Integers of a message are read as numbers: a spelling that is none is refused. */
const NO_INTEGERS = ['x', '7abc', '%00', '%EF%BC%97', '1'.repeat(300)]

for (const { name, column, design, wire, keys, wrong } of TYPES)
  describe(`a key that is ${name}`, () => {
    const service = altered(TaskService, (proto) => {
      for (const owner of ['Task', 'GetTaskRequest', 'DeleteTaskRequest', 'UndeleteTaskRequest'])
        for (const field of proto.message(owner).field) if (field.name === 'id') field.type = wire
      for (const field of proto.message('BatchGetTasksRequest').field)
        if (field.name === 'ids') field.type = wire
      for (const field of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after'])
        proto.removeField('Task', field)
      for (const one of proto.file.service)
        one.method = one.method.filter((method) => !['PlanTask', 'WatchTasks'].includes(method.name))
    })
    const message = service.method.getTask.output as DescMessage
    const [first, second] = keys
    let running: RunningServer
    let grpc: ForeignClient

    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${running.http}/v1/${path}`, {
        method,
        headers: { ...ALICE, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const json = (await response.json()) as Record<string, unknown>
      return { status: response.status, json }
    }

    before(async () => {
      @Entity('wire_tasks')
      @TenantScoped()
      @SoftDeletable()
      class WireTask {
        id!: never
        accountId!: string
        @Column() title!: string
        @ETag() etag!: string
        deleteTime?: Date
      }
      Reflect.defineMetadata('design:type', design, WireTask.prototype, 'id')
      PrimaryColumn(column as never)(WireTask.prototype, 'id')
      Resource({ message, type: 'task' })(WireTask)
      const tasks = new (memoryRepositoryOf(WireTask))()
      running = await startServer((builder) => builder.register(service, tasks as never))
      grpc = new ForeignClient(service, running.grpc)
      for (const id of [second, first]) {
        const made = await call('POST', 'tasks', { id, title: `task ${String(id)}` })
        expect(made).to.deep.include({ status: 200 })
        expect(made.json).to.include({ id })
      }
    })
    after(() => running.stop())

    it('names a resource in every method', async () => {
      expect((await call('GET', `tasks/${String(first)}`)).json).to.include({ id: first })
      const list = await call('GET', 'tasks')
      expect((list.json['tasks'] as { id: unknown }[]).map(({ id }) => id)).to.deep.equal(keys)
      const batch = await call('GET', `tasks:batchGet?ids=${String(second)}&ids=${String(first)}`)
      expect((batch.json['tasks'] as { id: unknown }[]).map(({ id }) => id)).to.deep.equal([second, first])
      const patched = await call('PATCH', `tasks/${String(first)}?update_mask=title`, { title: 'new' })
      expect(patched.json).to.include({ id: first, title: 'new' })
      const updated = await call('POST', 'tasks:batchUpdate', {
        requests: [{ task: { id: second, title: 'batch' }, updateMask: 'title' }],
      })
      expect(updated.json['tasks']).to.have.length(1)
      const quoted = wire === Type.STRING ? JSON.stringify(first) : String(first)
      const found = await call('GET', `tasks?filter=${encodeURIComponent(`id = ${quoted}`)}`)
      expect(found.json['tasks']).to.have.length(1)
      expect((await call('DELETE', `tasks/${String(first)}`)).status).to.equal(200)
      expect((await call('GET', `tasks/${String(first)}`)).status).to.equal(404)
      expect((await call('POST', `tasks/${String(first)}:undelete`, {})).json).to.include({ id: first })
      const taken = await call('POST', 'tasks', { id: first, title: 'again' })
      expect(taken.status).to.equal(409)
    })

    it('is the same on gRPC', async () => {
      const got = await grpc.unary('GetTask', { id: first }, ALICE)
      expect(got.answer).to.include({ id: first })
      const both = await grpc.unary('BatchGetTasks', { ids: [second, first] }, ALICE)
      expect(both.answer?.['tasks']).to.have.length(2)
      if (wire !== Type.STRING) return
      for (const text of wrong)
        expect(await grpc.unary('GetTask', { id: decodeURIComponent(text) }, ALICE), text).to.include({
          code: 5,
        })
    })

    it('is named where nobody has it', async () => {
      const missing = typeof first === 'string' && first.includes('-') ? UUIDS[0].replace('0', '1') : '8'
      for (const [method, path, body] of [
        ['GET', `tasks/${missing}`],
        ['DELETE', `tasks/${missing}`],
        ['POST', `tasks/${missing}:undelete`, {}],
        ['PATCH', `tasks/${missing}?update_mask=title`, { title: 'x' }],
        ['GET', `tasks:batchGet?ids=${missing}`],
        ['POST', 'tasks:batchUpdate', { requests: [{ task: { id: missing }, updateMask: 'title' }] }],
      ] as const) {
        const { status, json } = await call(method, path, body)
        expect([status, json['message']], path).to.deep.equal([404, `Task "${missing}" not found`])
      }
    })

    it('has one spelling', async () => {
      for (const text of wrong) {
        expect((await call('GET', `tasks/${text}`)).status, text).to.equal(404)
        expect((await call('DELETE', `tasks/${text}`)).status, text).to.equal(404)
        expect((await call('POST', `tasks/${text}:undelete`, {})).status, text).to.equal(404)
        expect((await call('PATCH', `tasks/${text}?update_mask=title`, { title: 'x' })).status).to.equal(404)
        expect((await call('GET', `tasks:batchGet?ids=${text}`)).status, text).to.equal(404)
        const id = decodeURIComponent(text)
        expect((await call('POST', 'tasks', { id, title: 'x' })).status, text).to.equal(400)
        const filter = encodeURIComponent(`id = ${JSON.stringify(id)}`)
        expect((await call('GET', `tasks?filter=${filter}`)).status, text).to.equal(400)
      }
      if (wire !== Type.STRING)
        for (const text of NO_INTEGERS)
          expect((await call('GET', `tasks/${text}`)).status, text).to.equal(400)
      expect((await call('GET', 'tasks')).json['tasks']).to.have.length(2)
    })

    it('is minted where it is a UUID, and has to be given where it is a number', async () => {
      const made = await call('POST', 'tasks', { title: 'without' })
      if (column.type !== 'uuid') expect(made.status).to.equal(400)
      else expect((await call('DELETE', `tasks/${String(made.json['id'])}`)).status).to.equal(200)
    })
  })
