import { expect } from 'chai'
import type { DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { Emits, ETag, Resource, SoftDeletable, TenantScoped } from '../../../../decorators/index.js'
import { memoryRepositoryOf, repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import { TaskService } from '../../../support/gen/plans_pb.js'
import { backends, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { applyBaseline } from '../../../support/databases/baseline.js'
import { altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../../support/servers/server.js'
import { collated } from '../../../conformance/repository/open-subject.js'

/** What the message and the entity hold of a number that the database mints. */
const TYPES = [
  { name: 'an int64', wire: Type.INT64, column: { type: 'bigint' }, design: BigInt, unset: '0' },
  { name: 'an int32', wire: Type.INT32, column: {}, design: Number, unset: 0 },
  { name: 'a string', wire: Type.STRING, column: { type: 'bigint' }, design: String, unset: '' },
] as const

const REFUSED = 'is a number that the database generates: leave it out'

/** In memory each type is tried; a server has one. */
const typesOf = (backend: string) =>
  backend === 'memory' ? TYPES : TYPES.slice(['sqlite', 'postgres'].indexOf(backend) + 1).slice(0, 1)

describeOn('a key that the database mints, in calls', backends, (backend) => {
  for (const { name, wire, column, design, unset } of typesOf(backend.name))
    describe(`as ${name}`, () => {
      const service = altered(TaskService, (proto) => {
        for (const owner of ['Task', 'GetTaskRequest', 'DeleteTaskRequest', 'UndeleteTaskRequest'])
          for (const field of proto.message(owner).field) if (field.name === 'id') field.type = wire
        for (const field of proto.message('BatchGetTasksRequest').field)
          if (field.name === 'ids') field.type = wire
        for (const field of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after'])
          proto.removeField('Task', field)
        proto.addField('CreateTaskRequest', 'task_id', wire)
        for (const one of proto.file.service)
          one.method = one.method.filter((method) => !['PlanTask', 'WatchTasks'].includes(method.name))
      })
      let opened: OpenBackend
      let running: RunningServer
      let grpc: ForeignClient

      const call = async (method: string, path: string, body?: object, caller: object = ALICE) => {
        const response = await fetch(`${running.http}/${path}`, {
          method,
          headers: { ...caller, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const json = (await response.json()) as Record<string, unknown>
        return { status: response.status, json }
      }
      const made = async (title: string, query = '') =>
        (await call('POST', `v1/tasks${query}`, { title })).json as { readonly id: string | number }
      const next = (id: string | number) => (typeof id === 'string' ? String(Number(id) + 1) : id + 1)

      before(async () => {
        @Entity('counted_tasks')
        @TenantScoped()
        @SoftDeletable()
        @Emits()
        class CountedTask {
          id!: never
          accountId!: string
          @Column({ type: 'varchar', length: 50, unique: true }) title!: string
          @ETag() etag!: string
          deleteTime?: Date
        }
        Reflect.defineMetadata('design:type', design, CountedTask.prototype, 'id')
        PrimaryGeneratedColumn({ ...column } as never)(CountedTask.prototype, 'id')
        Resource({ message: service.method.getTask.output as DescMessage, type: 'task' })(CountedTask)
        opened = await backend.open([CountedTask])
        const { dataSource, database } = opened
        let tasks: unknown = new (memoryRepositoryOf(CountedTask))()
        if (dataSource !== undefined && database !== undefined) {
          await createTables(collated(dataSource, backend), [CountedTask], database.dialect.name)
          await applyBaseline(dataSource)
          tasks = new (repositoryOf(CountedTask))(dataSource)
        }
        running = await startServer((builder) => builder.register(service, tasks as never), {
          gateway: { connect: true },
        })
        grpc = new ForeignClient(service, running.grpc)
      })
      after(async () => {
        await running?.stop()
        await opened?.close()
      })

      it('names a resource in every method', async () => {
        const { id } = await made('a')
        expect(typeof id).to.equal(typeof unset)
        expect((await call('GET', `v1/tasks/${id}`)).json).to.include({ id, title: 'a' })
        const patched = await call('PATCH', `v1/tasks/${id}?update_mask=title`, { title: 'b' })
        expect(patched.json).to.include({ id, title: 'b' })
        expect((await grpc.unary('GetTask', { id }, ALICE)).answer).to.include({ title: 'b' })
        expect((await call('DELETE', `v1/tasks/${id}`)).status).to.equal(200)
        expect((await call('POST', `v1/tasks/${id}:undelete`, {})).json).to.include({ id })
        const stranger = { ...ALICE, 'account-id': 'umbrella' }
        expect(await grpc.unary('GetTask', { id }, stranger)).to.include({ code: 5 })
      })

      it('is of no use to another tenant', async () => {
        const stranger = { ...ALICE, 'account-id': 'umbrella' }
        const asked = (method: string, path: string, body?: object) => call(method, path, body, stranger)
        const [first, second] = [await made('mine'), await made('mine too', '?request_id=same')]
        const own = (await asked('POST', 'v1/tasks?request_id=same', { title: 'mine too' })).json
        expect(own).to.include({ id: next(second.id), title: 'mine too' })
        const { etag, ...kept } = (await call('GET', `v1/tasks/${first.id}`)).json
        const ids = `ids=${String(own['id'])}&ids=${first.id}`
        const refused = [
          await asked('PATCH', `v1/tasks/${first.id}?update_mask=title`, { title: 'theirs', etag }),
          await asked('DELETE', `v1/tasks/${first.id}`),
          await asked('POST', `v1/tasks/${first.id}:undelete`, {}),
          await asked('GET', `v1/tasks:batchGet?${ids}`),
          await asked('POST', 'v1/tasks:batchUpdate', {
            requests: [own['id'], first.id].map((id) => ({
              task: { id, title: `x${String(id)}` },
              updateMask: 'title',
            })),
          }),
        ]
        expect(refused.map(({ status }) => status)).to.deep.equal(refused.map(() => 404))
        const page = (await call('GET', 'v1/tasks?page_size=1')).json['nextPageToken']
        const listed = await asked(
          'GET',
          `v1/tasks?page_token=${encodeURIComponent(String(page))}&page_size=1000`,
        )
        const tasks = (listed.json['tasks'] ?? []) as { readonly id: unknown }[]
        expect(tasks.filter(({ id }) => id !== own['id'])).to.deep.equal([])
        expect((await call('GET', `v1/tasks/${first.id}`)).json).to.deep.equal({ etag, ...kept })
        expect((await asked('GET', `v1/tasks/${String(own['id'])}`)).json).to.include({ title: 'mine too' })
      })

      it('that no row has, or can have, is not found', async () => {
        const beyond = ['9223372036854775807', '9223372036854775808', '-9223372036854775809', '2147483648']
        // A number in a field of numbers has no spelling of its own.
        const spelled = wire === Type.STRING ? ['1e0', '+1', '01'] : []
        for (const id of ['0', '-1', '-7', ...spelled, ...beyond])
          for (const [method, path, body] of [
            ['GET', `v1/tasks/${encodeURIComponent(id)}`, undefined],
            ['PATCH', `v1/tasks/${encodeURIComponent(id)}?update_mask=title`, { title: 'x' }],
            ['DELETE', `v1/tasks/${encodeURIComponent(id)}`, undefined],
            ['GET', `v1/tasks:batchGet?ids=${encodeURIComponent(id)}`, undefined],
          ] as const)
            expect((await call(method, path, body)).status, `${method} ${path}`).to.be.oneOf([400, 404])
      })

      it('is chosen by no caller, over any protocol', async () => {
        const most = wire === Type.INT32 ? 2_147_483_647 : '9223372036854775807'
        for (const id of [most, 7]) {
          const task = { id: wire === Type.STRING ? String(id) : id, title: 'chosen' }
          const http = await call('POST', 'v1/tasks', task)
          expect([http.status, http.json['message']]).to.deep.equal([400, `id: ${REFUSED}`])
          const connect = await call('POST', `${service.typeName}/CreateTask`, { task })
          expect([connect.status, connect.json['message']]).to.deep.equal([400, `id: ${REFUSED}`])
          const answer = await grpc.unary('CreateTask', { task }, ALICE)
          expect([answer.code, answer.details]).to.deep.equal([3, `id: ${REFUSED}`])
          const beside = await grpc.unary('CreateTask', { task: { title: 'x' }, task_id: task.id }, ALICE)
          expect([beside.code, beside.details]).to.deep.equal([3, `task_id: ${REFUSED}`])
        }
        const patched = await call('PATCH', 'v1/tasks/77?update_mask=title&allow_missing=true', {
          title: 'x',
        })
        expect(patched.status).to.be.oneOf([400, 404])
      })

      it('is left out of the response of a dry run', async () => {
        const { id } = await made('c')
        const tried = await grpc.unary('CreateTask', { task: { title: 'd' }, validate_only: true }, ALICE)
        expect(tried.answer).to.include({ title: 'd' })
        expect([unset, 0, '0', '']).to.include(tried.answer?.['id'])
        const taken = await grpc.unary('CreateTask', { task: { title: 'c' }, validate_only: true }, ALICE)
        expect(taken.code).to.equal(6)
        expect(Number((await made('d')).id)).to.be.greaterThan(Number(id))
      })

      it('is the same where a call is sent again', async () => {
        const first = await made('e', '?request_id=once')
        expect(await made('e', '?request_id=once')).to.deep.equal(first)
      })

      it('is warned of once, because it tells how many others make', () => {
        const warnings = running.records.filter(({ message }) =>
          message.includes('generates for all tenants'),
        )
        expect(warnings).to.have.length(1)
      })
    })
})
