import { expect } from 'chai'
import { connectTransport, createClient, grpcTransport } from '../../../lib/client/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { type Backend, backends, describeOn } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { ALICE, recordingLogger, startServer } from '../../support/servers/server.js'
import { inAcme, openTasks, service, taskIn } from './free-form-resource.js'

/** In `npm test` the engines that most people have. */
const asked = drilling ? backends : backends.filter(({ name }) => ['sqlite', 'postgres'].includes(name))

const SETTINGS = { theme: 'dark', size: 1.5, on: false, nothing: null, list: [1, ['a'], {}], in: { a: 'b' } }

async function served(backend: Backend, entity: ReturnType<typeof taskIn>) {
  const open = await openTasks(backend, entity)
  const logger = { ...recordingLogger(), isLevelEnabled: () => true }
  const running = await startServer((builder) => builder.register(service, open.tasks as never), {
    gateway: { connect: true },
    logger,
  })
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${running.http}/v1/${path}`, {
      method,
      headers: { ...ALICE, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
  }
  return {
    ...open,
    running,
    records: logger.records,
    call,
    stop: async () => {
      await running.stop()
      await open.close()
    },
  }
}

describeOn('free-form JSON on the wire', asked, (backend) => {
  const Plain = taskIn('free_wire_tasks', {})
  const Named = taskIn('free_wire_named', { include: 'before', freeForm: ['settings'] })

  it('is the same over REST, gRPC and Connect', () =>
    inAcme(async () => {
      const { running, records, call, stop } = await served(backend, Plain)
      const transports = [grpcTransport(running.grpc), connectTransport(`${running.http}/`)]
      try {
        const made = await call('POST', 'tasks', {
          ...{ id: 'a', title: 't', settings: SETTINGS, extra: ['x', 1], steps: [null, { a: 1 }] },
        })
        expect(made.status, made.text).to.equal(200)
        const all = { settings: SETTINGS, extra: ['x', 1], steps: [null, { a: 1 }] }
        expect(made.body).to.deep.include(all)
        expect((await call('GET', 'tasks/a')).body).to.deep.include(all)
        const read = async (mask: string) => (await call('GET', `tasks/a?read_mask=${mask}`)).body
        expect(await read('settings.theme')).to.deep.equal({ settings: { theme: 'dark' } })
        expect(await read('settings.in.a,settings.size,extra.x')).to.deep.equal({
          settings: { in: { a: 'b' }, size: 1.5 },
        })
        expect(await read('settings')).to.deep.equal({ settings: SETTINGS })
        const patched = await call('PATCH', 'tasks/a?update_mask=settings.theme', {
          settings: { theme: 'light', size: 9 },
        })
        expect(patched.body['settings'], patched.text).to.deep.equal({ ...SETTINGS, theme: 'light' })
        const whole = await call('PATCH', 'tasks/a?update_mask=*', { title: 'u', extra: { a: { b: 2 } } })
        expect([whole.body['settings'], whole.body['extra'], whole.body['steps']]).to.deep.equal([
          undefined,
          { a: { b: 2 } },
          undefined,
        ])
        const unknown = await call('PATCH', 'tasks/a?update_mask=title.a', { title: 'u' })
        expect(unknown.status).to.equal(400)
        const deep = await call('POST', 'tasks', {
          ...{
            id: 'x',
            title: 't',
            settings: JSON.parse('{"a":'.repeat(31) + '{}' + '}'.repeat(31)) as object,
          },
        })
        expect([deep.status, deep.text]).to.satisfy(
          ([status, text]: [number, string]) => status === 400 && text.includes('settings'),
        )
        for (const [at, transport] of transports.entries()) {
          const client = createClient(service, { transport, metadata: ALICE })
          const id = `c${at}`
          const task = { id, title: 't', settings: { ...SETTINGS, __proto: 1 }, steps: { values: [] } }
          const created = (await client.createTask({ task: task as never })) as never as typeof task
          expect(created.settings).to.deep.equal(task.settings)
          const got = (await client.getTask({ id })) as never as typeof task
          expect([got.settings, got.steps.values]).to.deep.equal([task.settings, []])
          const query = { filter: `settings.in.a = "b" AND id = "${id}"`, pageSize: 2 }
          const listed = (await client.listTasks(query)) as never as { tasks: (typeof task)[] }
          expect(listed.tasks.map(({ settings }) => settings)).to.deep.equal([task.settings])
          const masked = (await client.updateTask({
            task: { id, settings: { in: { a: 'c' } } } as never,
            updateMask: { paths: ['settings.in.a'] } as never,
          })) as never as typeof task
          expect(masked.settings).to.deep.equal({ ...task.settings, in: { a: 'c' } })
        }
        const logged = JSON.stringify(records)
        expect(logged).to.include('(6 keys)').and.not.include('dark')
      } finally {
        for (const transport of transports) transport.close()
        await stop()
      }
    }))

  it('is in events only if @Emits() names it', () =>
    inAcme(async () => {
      if (backend.name === 'memory') return
      for (const entity of [Plain, Named]) {
        const { tasks, dataSource, close } = await openTasks(backend, entity)
        try {
          await tasks.create({ id: 'e', title: 't', settings: SETTINGS, extra: 'secret' })
          await tasks.update('e', { settings: { theme: 'light' } }, ['settings'])
          const events = await dataSource!.query<{ payload: unknown }[]>('SELECT payload FROM outbox')
          const told = events.map(({ payload }) => String(payload)).join('\n')
          expect(told).to.not.include('secret')
          expect(told.includes('dark')).to.equal(entity === Named)
          expect(told.includes('light')).to.equal(entity === Named)
        } finally {
          await close()
        }
      }
    }))

  for (const type of ['json', 'jsonb', 'simple-json'] as const)
    it(`is read and written in a ${type} column that TypeORM has made`, () =>
      inAcme(async () => {
        if (!(backend.name === 'postgres' || (type === 'json' && backend.name === 'mariadb'))) return
        const Existing = taskIn(`free_${type.replace('-', '_')}`, undefined, type)
        const { dataSource, close } = await backend.open([Existing])
        try {
          if (backend.name === 'mariadb') await dataSource!.query('ALTER DATABASE COLLATE utf8mb4_nopad_bin')
          await dataSource!.synchronize()
          const tasks = new TypeormRepository(dataSource!, Existing)
          const made = {
            id: 'a',
            title: 't',
            settings: SETTINGS,
            extra: 'x',
            steps: [1],
            etag: 'e',
            accountId: 'acme',
          }
          const { manager } = dataSource!
          await manager.save(Object.assign(new Existing(), made))
          expect(await tasks.get('a')).to.deep.include({ settings: SETTINGS, extra: 'x', steps: [1] })
          await tasks.update('a', { settings: { theme: 'light' } } as never, ['settings.theme'] as never)
          await tasks.update('a', { extra: 5 } as never, ['extra'] as never)
          const read = await manager.findOneByOrFail(Existing, { id: 'a' })
          expect(read).to.deep.include({ settings: { ...SETTINGS, theme: 'light' }, extra: 5, steps: [1] })
          await manager.save(Object.assign(read, { settings: [1] }))
          expect((await tasks.list({ filter: 'settings = null AND extra = 5' })).items).to.have.length(1)
          await tasks.update('a', { ...(await tasks.get('a')) })
          expect((await manager.findOneByOrFail(Existing, { id: 'a' })).settings).to.deep.equal([1])
          const differences = await schemaComparison([Existing])(liveSchemaOf(dataSource!))
          expect(differences.filter(({ column }) => column === 'settings')).to.deep.equal([])
        } finally {
          await close()
        }
      }))

  it('does not start if @Emits() names a field that has no free-form JSON', () => {
    const Wrong = taskIn('free_wrong', { freeForm: ['title', 'settings'] })
    expect(() => resourceModel(Wrong)).to.throw(DeclarationError, /freeForm: \["title"\]/)
  })
})
