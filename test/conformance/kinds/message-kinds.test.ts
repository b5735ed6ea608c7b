import type { JsonObject } from '@bufbuild/protobuf'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import type { ClientTransport } from '../../../lib/client/index.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { type Backend, backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { drilling } from '../../support/drill.js'
import { Described } from '../../support/openapi/described.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'
import { collated } from '../repository/open-subject.js'
import { KindTask, service } from './kind-resource.js'
import { MESSAGE_KINDS } from './message-kinds.js'
import { type Method, type Protocol, protocolsOf } from './protocols.js'

/** In `npm test` the engines that most people have, and the two protocols that share the least. */
const asked = drilling ? backends : backends.filter(({ name }) => ['sqlite', 'postgres'].includes(name))
const PROTOCOLS = drilling ? ['REST', 'Connect JSON', 'Connect', 'gRPC'] : ['REST', 'gRPC']

async function repositoryOn(backend: Backend) {
  const { dataSource, database, close } = await backend.open([KindTask])
  if (dataSource === undefined || database === undefined)
    return { tasks: new (memoryRepositoryOf(KindTask))({}), dataSource, close }
  await applyBaseline(dataSource)
  await createTables(collated(dataSource, backend), [KindTask], database.dialect.name)
  return { tasks: new (repositoryOf(KindTask))(dataSource), dataSource, close }
}

describeOn('what a message can hold', asked, (backend) => {
  const closing: (() => unknown)[] = []
  let running: RunningServer
  let dataSource: DataSource | undefined
  let described: Described
  let protocols: readonly Protocol[] = []
  before(async () => {
    const opened = await repositoryOn(backend)
    closing.push(opened.close)
    ;({ dataSource } = opened)
    running = await startServer((builder) => builder.register(service, opened.tasks as never), {
      gateway: { connect: true },
    })
    closing.push(running.stop)
    protocols = protocolsOf(service, running, (transport: ClientTransport) => {
      closing.push(() => transport.close())
    })
    described = new Described(await running.server.openApi())
  })
  after(async () => {
    for (const close of closing.toReversed()) await close()
  })

  for (const kind of MESSAGE_KINDS)
    for (const protocol of PROTOCOLS)
      it(`${kind.name}, over ${protocol}`, async () => {
        const { call } = protocols.find(({ name }) => name === protocol)!
        const answer = async (method: Method, request: JsonObject): Promise<JsonObject> => {
          const { json, error } = await call(method, request)
          expect(error, JSON.stringify(request)).to.equal(undefined)
          return json!
        }
        const refused = async (method: Method, request: JsonObject, why: RegExp) => {
          const { json, error } = await call(method, request)
          expect(json, JSON.stringify(request)).to.equal(undefined)
          expect(error).to.match(why)
        }
        const id = `${kind.name}-${protocol}`.replaceAll(/\W/g, '')
        const [a, b] = [`${id}a`, `${id}b`]
        const [first, second] = kind.values
        const is = (task: JsonObject, wanted: JsonObject) => {
          for (const [name, value] of Object.entries(wanted))
            expect(Object.hasOwn(task, name) ? task[name] : absentIn(value), name).to.deep.equal(value)
          for (const name of kind.without ?? []) expect(task).to.not.have.property(name)
        }

        const operation = described.operation('CreateTask')
        for (const [at, task] of [
          [a, first],
          [b, second],
        ] as const) {
          const request = { id: at, title: 't', ...task }
          expect(described.check(described.requestOf(operation), request)).to.deep.equal([])
          const made = await answer('createTask', { task: request })
          is(made, task)
          if (protocol === 'REST')
            expect(described.problems(operation, 200, 'application/json', made)).to.deep.equal([])
        }
        is(await answer('getTask', { id: a }), first)

        const ours = `(id = "${a}" OR id = "${b}")`
        const listed = async (request: JsonObject) =>
          ((await answer('listTasks', request))['tasks'] as JsonObject[]).map((task) => task['id'])
        const [filter, noFilter] = kind.filter
        if (noFilter === undefined)
          expect(await listed({ filter: `${filter} AND ${ours}` })).to.deep.equal([a])
        else await refused('listTasks', { filter }, noFilter)
        const [orderBy, noOrder] = kind.order
        if (noOrder === undefined) expect(await listed({ filter: ours, orderBy })).to.deep.equal([a, b])
        else await refused('listTasks', { orderBy }, noOrder)

        const [part, left] = kind.part ?? []
        if (part !== undefined) expect(await answer('getTask', { id: a, readMask: part })).to.deep.equal(left)
        const masked = await answer('getTask', { id: a, readMask: kind.mask })
        expect(Object.keys(masked)).to.satisfy((names: string[]) => names.every((name) => name === kind.mask))

        const task = { id: a, ...second }
        const [into, result] = kind.into
        if (result instanceof RegExp) await refused('updateTask', { task, updateMask: into }, result)
        else is(await answer('updateTask', { task, updateMask: into }), { ...first, ...result })
        is(await answer('updateTask', { task, updateMask: kind.mask }), second)
        is(await answer('getTask', { id: a }), second)
        is(await answer('updateTask', { task: { id: a, title: 'u', ...first }, updateMask: '*' }), first)
        is(await answer('getTask', { id: a }), first)

        for (const [wrong, why] of kind.wrong ?? []) {
          const request = { id: 'x', title: 't', email: 'e', ...wrong }
          if (kind.without !== undefined) Reflect.deleteProperty(request, 'email')
          await refused('createTask', { task: { ...request, ...wrong } }, why)
        }
        if (dataSource === undefined) return
        const events = await dataSource.query<{ payload: unknown }[]>(
          `SELECT payload FROM outbox WHERE aggregate_id = '${a}'`,
        )
        expect(events.length).to.be.at.least(3)
        const told = events.map(({ payload }) => String(payload)).join('\n')
        expect(told).to.include(`"${kind.mask}":`)
      })
})

/** Connect's binary client writes no zero value. */
const absentIn = (value: unknown): unknown => {
  if (Array.isArray(value)) return []
  if (typeof value === 'object') return {}
  return typeof value === 'boolean' ? false : typeof value === 'number' ? 0 : ''
}
