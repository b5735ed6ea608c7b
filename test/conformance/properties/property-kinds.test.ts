import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { connectTransport, createClient, grpcTransport } from '../../../lib/client/index.js'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { type Backend, backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import type { TaskService } from '../../support/gen/plans_pb.js'
import { drilling } from '../../support/drill.js'
import { Described } from '../../support/openapi/described.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { collated } from '../repository/open-subject.js'
import { engineOf, PROPERTY_KINDS, type PropertyKind, serviceWith } from './property-kinds.js'

interface Item {
  id: string
  title: string
  worth?: unknown
}

/** A resource with the property. */
interface Declared {
  readonly kind: PropertyKind
  readonly table: string
  readonly entity: EntityClass<Item>
  readonly service: typeof TaskService
}

function declared(kind: PropertyKind, at: number, { name }: Backend, isExisting: boolean): Declared {
  const service = serviceWith(kind)
  const table = `tasks_${at}`
  class Task {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ length: 40 }) title!: string
    @ETag() etag!: string
    worth!: unknown
    @Column({ length: 40 }) accountId!: string
  }
  Reflect.defineMetadata('design:type', kind.designType, Task.prototype, 'worth')
  for (const decorate of kind.column(engineOf(name))) decorate(Task.prototype, 'worth')
  Emits()(Task)
  TenantScoped()(Task)
  Entity(table)(Task)
  const message = service.method.getTask.output
  const existing = isExisting && { existing: true, naming: 'typeorm' as const }
  Resource({ message, ...existing })(Task)
  return { kind, table, entity: Task, service }
}

/** One database with a table of each kind. */
interface Opened {
  readonly dataSource: DataSource | undefined
  close(): Promise<void>
}

async function opened(all: readonly Declared[], backend: Backend, isExisting: boolean): Promise<Opened> {
  const entities = all.map(({ entity }) => entity)
  const { dataSource, database, close } = await backend.open(entities)
  if (dataSource === undefined || database === undefined) return { dataSource, close }
  try {
    await applyBaseline(dataSource)
    const engine = engineOf(backend.name)
    if (isExisting && engine !== 'sqlite') {
      if (engine === 'mysql') await dataSource.query('ALTER DATABASE COLLATE utf8mb4_nopad_bin')
      await dataSource.synchronize()
    } else await createTables(collated(dataSource, backend), entities, database.dialect.name)
    return { dataSource, close }
  } catch (error) {
    await close()
    throw error
  }
}

const inAcme = <T>(run: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'alice' }, run)

async function pages(items: Repository<Item>, orderBy: string): Promise<string[]> {
  const ids: string[] = []
  for (let pageToken = ''; ;) {
    const page = await items.list({ orderBy, pageSize: 1, pageToken })
    ids.push(...page.items.map(({ id }) => id))
    if ((pageToken = page.nextPageToken) === '') return ids
  }
}

/** @param value - SQL that the engine's strict mode may reject. */
async function storeIn(dataSource: DataSource, table: string, value: string): Promise<void> {
  const runner = dataSource.createQueryRunner()
  const isMysql = dataSource.options.type === 'mysql' || dataSource.options.type === 'mariadb'
  try {
    if (isMysql) await runner.query("SET SESSION sql_mode = ''")
    await runner.query(`UPDATE ${table} SET worth = ${value} WHERE id = 'i0'`)
  } finally {
    if (isMysql) await runner.query('SET SESSION sql_mode = DEFAULT')
    await runner.release()
  }
}

/** In `npm test` the engines that most people have. */
const asked = drilling ? backends : backends.filter(({ name }) => ['sqlite', 'postgres'].includes(name))

describeOn('a property that holds', asked, (backend) => {
  for (const isExisting of backend.name === 'memory' ? [false] : [false, true]) {
    const engine = engineOf(backend.name)
    const kinds = PROPERTY_KINDS.filter(({ isArray = false }) => {
      if (drilling) return !(isArray && isExisting) || engine === 'postgres'
      return engine === 'postgres' ? isExisting || isArray : !isExisting
    })
    if (kinds.length === 0) continue
    const all = kinds.map((kind, at) => declared(kind, at, backend, isExisting))
    let database: Opened
    before(async () => {
      database = await opened(all, backend, isExisting)
    })
    after(() => database?.close())

    for (const { kind, table, entity, service } of all)
      describe(`${kind.name}${isExisting ? ', in an existing table' : ''}`, () => {
        const { values } = kind
        let items: Repository<Item>
        beforeEach(async () => {
          const { dataSource } = database
          items = (
            dataSource === undefined
              ? new (memoryRepositoryOf(entity))({})
              : new (repositoryOf(entity))(dataSource)
          ) as never
          await dataSource?.query(`DELETE FROM ${table}`)
        })
        const run = (test: (on: Pick<Opened, 'dataSource'>) => Promise<void>) => inAcme(() => test(database))

        it('is written, read, filtered, sorted and paged', () =>
          run(async () => {
            for (const [at, { held }] of values.entries()) {
              const made = await items.create({ id: `i${at}`, title: 't', worth: held })
              expect(made.worth).to.deep.equal(held)
              expect((await items.get(`i${at}`)).worth).to.deep.equal(held)
            }
            const ids = values.map((_, at) => `i${at}`)
            expect((await items.list()).items.map(({ worth }) => worth)).to.deep.equal(
              values.map(({ held }) => held),
            )
            const last = values.at(-1)
            const found = async (filter: string) =>
              (await items.list({ filter })).items.map(({ id }) => id).toSorted()
            if (kind.isUnfiltered === true) {
              await rejection(found(`worth:${last?.filter}`), InvalidArgument)
              return
            }
            if (kind.isList === true) {
              expect(await found(`worth:${last?.filter}`)).to.deep.equal([ids.at(-1)])
              expect(await found(`-worth:${last?.filter}`)).to.deep.equal(ids.slice(0, -1))
              return
            }
            expect(await pages(items, 'worth, id')).to.deep.equal(ids)
            expect(await pages(items, 'worth desc, id desc')).to.deep.equal(ids.toReversed())
            expect(await pages(items, 'worth, id desc')).to.have.members(ids)
            expect(await found(`worth = ${last?.filter}`)).to.deep.equal([ids.at(-1)])
            expect(await found(`worth != ${last?.filter}`)).to.deep.equal(ids.slice(0, -1))
            expect(await found(`worth = ${values[0].filter} OR worth = ${last?.filter}`)).to.include(
              ids.at(-1),
            )
          }))

        it('is updated with and without a mask, alone and in a batch', () =>
          run(async () => {
            const [first, , last] = values
            for (const id of ['a', 'b']) await items.create({ id, title: 't', worth: first.held })
            expect((await items.update('a', { worth: last.held }, ['worth'])).worth).to.deep.equal(last.held)
            expect((await items.update('a', { title: 'u' }, ['title'])).worth).to.deep.equal(last.held)
            const whole = { id: 'a', title: 'v', worth: first.held }
            expect((await items.update('a', whole)).worth).to.deep.equal(first.held)
            const changes = ['a', 'b'].map((key) => ({
              key,
              entity: { worth: last.held },
              fieldMask: ['worth'] as const,
            }))
            const changed = await items.batchUpdate(changes as never)
            expect(changed.map(({ worth }) => worth)).to.deep.equal([last.held, last.held])
            expect((await items.batchGet(['a', 'b'])).map(({ worth }) => worth)).to.deep.equal([
              last.held,
              last.held,
            ])
          }))

        it('is converted between the entity and the message', () =>
          run(() => {
            const model = resourceModel(entity)
            const { output } = service.method.getTask
            for (const { held, wire } of values) {
              const message = model.toMessage<{ worth: unknown }>(
                Object.assign(new entity(), { id: 'i', title: 't', worth: held }),
              )
              expect(message.worth).to.deep.equal(wire)
              expect(model.fromMessage(create(output, message as never)).worth).to.deep.equal(held)
            }
            return Promise.resolve()
          }))

        it("is read and written by TypeORM's manager", () =>
          run(async ({ dataSource }) => {
            const isOther =
              ((isExisting || kind.isArray) && kind.otherwiseOn?.includes(engine) === true) ||
              (kind.isArray === true && engine === 'mysql')
            if (dataSource === undefined || isOther) return
            const { manager } = dataSource
            const [first, , last] = values
            await items.create({ id: 'a', title: 't', worth: first.held })
            const read = await manager.findOneByOrFail(entity, { id: 'a' } as never)
            expect(read.worth).to.deep.equal(first.held)
            read.worth = last.held
            await manager.save(read)
            expect((await items.get('a')).worth).to.deep.equal(last.held)
            const made = { id: 'b', title: 't', etag: 'e', accountId: 'acme', worth: first.held }
            await manager.save(Object.assign(new entity(), made))
            expect((await items.get('b')).worth).to.deep.equal(first.held)
            if (kind.isList === true) return
            expect(await manager.findOneBy(entity, { worth: last.held } as never)).to.include({ id: 'a' })
          }))

        it('is called over REST as its OpenAPI document says, over gRPC and Connect, and is in events', () =>
          run(async ({ dataSource }) => {
            const running = await startServer((builder) => builder.register(service, items as never), {
              gateway: { connect: true },
            })
            const transports = [grpcTransport(running.grpc), connectTransport(`${running.http}/`)]
            const call = async (method: string, path: string, body?: object) => {
              const response = await fetch(`${running.http}/v1/${path}`, {
                method,
                headers: { ...ALICE, 'content-type': 'application/json' },
                ...(body !== undefined && { body: JSON.stringify(body) }),
              })
              const text = await response.text()
              return {
                status: response.status,
                text,
                body: JSON.parse(text) as { worth?: unknown; tasks: Item[] },
              }
            }
            try {
              const [first, , last] = values
              const id = `${table}-a`
              const described = new Described(await running.server.openApi())
              const operation = described.operation('CreateTask')
              const body = { id, title: 't', worth: first.json }
              expect(described.check(described.requestOf(operation), body)).to.deep.equal([])
              const made = await call('POST', 'tasks', body)
              expect(made.status, made.text).to.equal(200)
              const problems = described.problems(operation, 200, 'application/json', made.body)
              expect(problems).to.deep.equal([])
              expect(made.body.worth).to.deep.equal(first.json)
              expect((await call('GET', `tasks/${id}`)).body.worth).to.deep.equal(first.json)
              const masked = await call('GET', `tasks/${id}?read_mask=worth`)
              expect(masked.body).to.deep.equal({ worth: first.json })
              const patched = await call('PATCH', `tasks/${id}?update_mask=worth`, { worth: last.json })
              expect(patched.body.worth, patched.text).to.deep.equal(last.json)
              const whole = await call('PATCH', `tasks/${id}?update_mask=*`, {
                title: 'u',
                worth: first.json,
              })
              expect(whole.body.worth, whole.text).to.deep.equal(first.json)
              const asked = kind.isList === true ? 'id = "' + id + '"' : `worth = ${first.filter}`
              const order = kind.isList === true ? 'id' : 'worth desc'
              const query = new URLSearchParams({ filter: asked, order_by: order })
              const listed = await call('GET', `tasks?${query}`)
              expect(listed.body.tasks.map(({ worth }) => worth)).to.deep.equal([first.json])
              const list = described.operation('ListTasks')
              expect(described.problems(list, 200, 'application/json', listed.body)).to.deep.equal([])
              for (const worth of [...kind.wrong, ...((isExisting && kind.wrongExisting) || [])]) {
                const rejected = await call('POST', 'tasks', { id: 'x', title: 't', worth })
                expect(rejected.status, rejected.text).to.equal(400)
                expect(rejected.text).to.include('worth')
              }
              for (const [at, transport] of transports.entries()) {
                const client = createClient(service, { transport, metadata: ALICE })
                const task = { id: `c${at}`, title: 't', worth: last.wire }
                const created = await client.createTask({ task: task as never })
                expect((created as never as Item).worth).to.deep.equal(last.wire)
                const got = await client.getTask({ id: `c${at}` })
                expect((got as never as Item).worth).to.deep.equal(last.wire)
              }
              if (dataSource === undefined) return
              const events = await dataSource.query<{ payload: unknown }[]>(
                `SELECT payload FROM outbox WHERE aggregate_id = '${id}'`,
              )
              const told = events.map(({ payload }) => String(payload))
              expect(told.join('\n')).to.include(JSON.stringify(last.json))
              // JSON omits zero values.
              if (first.json !== false) expect(told.join('\n')).to.include(JSON.stringify(first.json))
            } finally {
              for (const transport of transports) transport.close()
              await running.stop()
            }
          }))

        it('rejects another value', () =>
          run(async () => {
            await rejection(items.create({ id: 'x', title: 't', worth: Symbol('x') }), InvalidArgument)
          }))

        const isJson = kind.isArray === true && engine !== 'postgres'
        const { unreadable: beyond = [], unreadableExisting = [], unreadableJson = [] } = kind
        const unreadable = isJson ? unreadableJson : beyond
        const foreign = [
          ...(typeof unreadable === 'function' ? unreadable(engine) : unreadable),
          ...(isExisting ? unreadableExisting : []),
        ]
        if (foreign.length > 0 && backend.name !== 'memory')
          it('is unset if the message cannot hold what the table does, which a full update keeps', () =>
            run(async ({ dataSource }) => {
              const stored = async () =>
                dataSource!.query<{ worth: unknown }[]>(
                  `SELECT CAST(worth AS ${engine === 'mysql' ? 'CHAR' : 'text'}) AS worth FROM ${table} ORDER BY id`,
                )
              const ids = values.map((_, at) => `i${at}`)
              const rest = values.slice(1).map(({ held }) => held)
              for (const [at, { held }] of values.entries())
                await items.create({ id: `i${at}`, title: 't', worth: held })
              for (const one of foreign) {
                await storeIn(dataSource!, table, one)
                const before = await stored()
                const listed = await items.list({ orderBy: 'id' })
                expect(listed.items.map(({ worth }) => worth)).to.deep.equal([undefined, ...rest])
                if (kind.isList !== true) {
                  expect(await pages(items, 'worth')).to.have.members(ids)
                  expect(await pages(items, 'worth desc')).to.have.members(ids)
                  const { length } = (await items.list({ filter: `worth = ${values[1].filter}` })).items
                  expect(length + (await items.count({ filter: `worth != ${values[1].filter}` }))).to.equal(
                    ids.length,
                  )
                }
                const read = await items.get('i0')
                for (const mask of [undefined, ['*']] as const) {
                  read.title += 'u'
                  const updated = await items.update('i0', read, mask)
                  expect([updated.title, updated.worth]).to.deep.equal([read.title, undefined])
                  expect(await stored()).to.deep.equal(before)
                }
                await items.batchUpdate([{ key: 'i0', entity: read, fieldMask: ['*'] }] as never)
                expect(await stored(), one).to.deep.equal(before)
                const whole = await items.update('i0', { ...read, worth: values[0].held } as never)
                expect(whole.worth).to.deep.equal(values[0].held)
              }
            }))

        if (engineOf(backend.name) !== 'sqlite')
          it('has no difference to its table', () =>
            run(async ({ dataSource }) => {
              const differences = await schemaComparison([entity])(liveSchemaOf(dataSource!))
              expect(differences.filter(({ column }) => column === 'worth')).to.deep.equal([])
            }))
      })
  }
})
