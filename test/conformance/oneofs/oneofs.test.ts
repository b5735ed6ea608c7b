import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { type ColumnOptions, getMetadataArgsStorage } from 'typeorm'
import { InvalidArgument } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { problemsOf } from '../../resource/typeorm/declarations.js'
import { inAcme } from '../free-form/free-form-resource.js'
import { membersOf, openTasks, type OpenTasks, service, type Task, taskIn, VALUES } from './oneof-resource.js'

const Tasks = taskIn('oneof_tasks')

describeOn('a oneof', backends, (backend) => {
  let open: OpenTasks
  let tasks: OpenTasks['tasks']
  before(async () => {
    open = await openTasks(backend, Tasks)
    ;({ tasks } = open)
  })
  after(() => open?.close())
  afterEach(() => inAcme(() => tasks.deleteMany(filter`id > ""`)))

  const make = (id: string, values: object) => tasks.create({ id, title: 't', ...values })
  const held = async (id: string) => membersOf(await tasks.get(id))

  for (const [name, first, , second] of VALUES)
    it(`stores ${name}, and clears it when another member is written`, () =>
      inAcme(async () => {
        expect(membersOf(await make('a', { [name]: first }))).to.deep.equal({ [name]: first })
        expect(await held('a')).to.deep.equal({ [name]: first })
        for (const [other, value] of VALUES) {
          if (other === name) continue
          const written = await tasks.update('a', { [other]: value }, [other])
          expect(membersOf(written)).to.deep.equal({ [other]: value })
          expect(await held('a')).to.deep.equal({ [other]: value })
          await tasks.update('a', { title: 'u', [name]: second })
          expect(await held('a')).to.deep.equal({ [name]: second })
        }
        await tasks.update('a', { title: 'u' }, ['title'])
        expect(await held('a')).to.deep.equal({ [name]: second })
        await tasks.update('a', {}, [name])
        expect(await held('a')).to.deep.equal({})
      }))

  it('clears a member that a mask names, and no other', () =>
    inAcme(async () => {
      await make('a', { email: 'x' })
      await tasks.update('a', {}, ['seats', 'phase'])
      expect(await held('a')).to.deep.equal({ email: 'x' })
      await tasks.update('a', { nick: 'n' }, ['seats', 'nick'])
      expect(await held('a')).to.deep.equal({ nick: 'n' })
    }))

  it('is cleared by a full update without a member', () =>
    inAcme(async () => {
      await make('a', { place: { id: 'de', title: 'x' } })
      await tasks.update('a', { title: 'u' })
      expect(await held('a')).to.deep.equal({})
    }))

  it('is written in batches', () =>
    inAcme(async () => {
      for (const id of ['a', 'b', 'c']) await make(id, { email: id })
      const changed = await tasks.batchUpdate([
        { key: 'a', entity: { seats: 1n }, fieldMask: ['seats'] },
        { key: 'b', entity: { due: new Date(1000) }, fieldMask: ['due'] },
        { key: 'c', entity: { email: 'd' }, fieldMask: ['email'] },
      ])
      const wanted = [{ seats: 1n }, { due: new Date(1000) }, { email: 'd' }]
      expect(changed.map(membersOf)).to.deep.equal(wanted)
      expect((await tasks.batchGet(['a', 'b', 'c'])).map(membersOf)).to.deep.equal(wanted)
    }))

  it('has one member after two callers have set two at once', () =>
    inAcme(async () => {
      const rounds = Array.from({ length: 10 }, (_, at) => `r${at}`)
      for (const id of rounds) await make(id, { email: 'x' })
      await Promise.all(
        rounds.flatMap((id) => [
          tasks.update(id, { seats: 1n }, ['seats']),
          tasks.update(id, { nick: 'n' }, ['nick']),
          tasks.update(id, { title: 'u', due: new Date(0) }),
          tasks.batchUpdate([{ key: id, entity: { phase: 1 }, fieldMask: ['phase'] }]),
        ]),
      )
      const { items } = await tasks.list()
      expect(items.map((item) => Object.keys(membersOf(item)).length)).to.deep.equal(rounds.map(() => 1))
      const { dataSource } = open
      if (dataSource === undefined) return
      // Reading leaves out all but one.
      const set = ['email', 'seats', 'phase', 'due', 'place', 'nick', 'extra']
        .map((name) => `CASE WHEN ${name} IS NULL THEN 0 ELSE 1 END`)
        .join(' + ')
      const stored = await dataSource.query<unknown[]>(`SELECT id FROM oneof_tasks WHERE ${set} <> 1`)
      expect(stored).to.deep.equal([])
    }))

  it('is written by updateMany and modify', () =>
    inAcme(async () => {
      for (const id of ['a', 'b']) await make(id, { email: id })
      expect(await tasks.updateMany(filter`id > ""`, { nick: 'n' })).to.equal(2)
      expect([await held('a'), await held('b')]).to.deep.equal([{ nick: 'n' }, { nick: 'n' }])
      await tasks.modify('a', () => ({ seats: 4n }))
      expect(await held('a')).to.deep.equal({ seats: 4n })
    }))

  it('rejects two members at once', () =>
    inAcme(async () => {
      const both = { email: 'x', seats: 1n }
      const wrong = async (call: Promise<unknown>) => {
        const error = await rejection(call, InvalidArgument)
        expect(error.message).to.match(/^seats: .*email.*oneof contact/)
      }
      await wrong(make('a', both))
      await make('a', { email: 'x' })
      await wrong(tasks.update('a', both, ['email', 'seats']))
      await wrong(tasks.update('a', { title: 'u', ...both }))
      await tasks.update('a', both, ['seats'])
      expect(await held('a')).to.deep.equal({ seats: 1n })
    }))

  it('is filtered and sorted by its members', () =>
    inAcme(async () => {
      for (const [name, first] of VALUES) await make(name, { [name]: first })
      await make('other', { seats: 5n })
      const found = async (filter: string, orderBy = 'id') =>
        (await tasks.list({ filter, orderBy })).items.map(({ id }) => id)
      expect(await found('email = "a@example.com"')).to.deep.equal(['email'])
      expect(await found('seats >= 0', 'seats desc')).to.deep.equal(['other', 'seats'])
      expect(await found('phase = ACTIVE')).to.deep.equal(['phase'])
      expect(await found('due:*')).to.deep.equal(['due'])
      expect(await found('place.id = "de"')).to.deep.equal(['place'])
      expect(await found('nick = ""')).to.deep.equal(['nick'])
      expect(await found('extra.a = 1')).to.deep.equal(['extra'])
      expect(await found('NOT seats:* AND NOT email:*', 'id')).to.not.include.members(['seats', 'email'])
    }))

  it('is converted between the entity and the message', () => {
    const model = resourceModel(Tasks)
    for (const [name, first] of VALUES) {
      const message = model.toMessage<{ contact: { case?: string } }>(
        Object.assign(new Tasks(), { id: 'i', title: 't', [name]: first }),
      )
      expect(message.contact.case).to.equal(name)
      const back = model.fromMessage(create(service.method.getTask.output, message as never))
      expect(membersOf(back)).to.deep.equal({ [name]: first })
    }
  })

  it('has the member with the lowest number if another program has set two', () =>
    inAcme(async () => {
      const { dataSource } = open
      if (dataSource === undefined || backend.name === 'sqlite') return
      const Free = taskIn('oneof_free', service, true)
      const { dataSource: other, close } = await backend.open([Free])
      try {
        if (backend.name === 'mariadb' || backend.name === 'mysql8')
          await other!.query('ALTER DATABASE COLLATE utf8mb4_nopad_bin')
        await other!.synchronize()
        const free = new (repositoryOf(Free))(other as never) as unknown as OpenTasks['tasks']
        await other!.manager.save(
          Object.assign(new Free(), {
            ...{ id: 'a', title: 't', seats: 2n, nick: 'n', etag: 'e', accountId: 'acme' },
          } satisfies Partial<Task>),
        )
        expect(membersOf(await free.get('a'))).to.deep.equal({ seats: 2n })
        expect((await free.list()).items.map(membersOf)).to.deep.equal([{ seats: 2n }])
        const noted: string[] = []
        await schemaComparison([Free], { note: ({ text }) => noted.push(text) })(liveSchemaOf(other!))
        expect(noted).to.include('oneof_free has no check oneof_free_contact_oneof')
      } finally {
        await close()
      }
    }))

  it('is checked by a new table', () =>
    inAcme(async () => {
      const { dataSource } = open
      if (dataSource === undefined) return
      await make('a', { email: 'x' })
      const error = await rejection(
        dataSource.query("UPDATE oneof_tasks SET nick = 'n' WHERE id = 'a'"),
        Error,
      )
      expect(String(error)).to.include('oneof_tasks_contact_oneof')
      if (backend.name === 'sqlite') return
      const noted: string[] = []
      const differences = await schemaComparison([Tasks], { note: ({ text }) => noted.push(text) })(
        liveSchemaOf(dataSource),
      )
      expect([differences, noted]).to.deep.equal([[], []])
    }))
})

describe('a member of a oneof', () => {
  const problemsWith = (options: ColumnOptions): readonly string[] => {
    const Wrong = taskIn('oneof_wrong')
    const { columns } = getMetadataArgsStorage()
    const email = columns.find(({ target, propertyName }) => target === Wrong && propertyName === 'email')
    Object.assign(email!.options, options)
    return problemsOf(Wrong)
  }

  it('has a nullable column', () => {
    expect(problemsWith({ nullable: false })).to.deep.equal([
      'email is in the oneof contact: its column must be nullable, as in @Column({ nullable: true })',
    ])
  })

  it('has no default', () => {
    expect(problemsWith({ default: 'x' })).to.deep.equal([
      'email is in the oneof contact, and it has a default, which would be set together with another member: remove the default',
    ])
  })

  it('is cleared by every write', () => {
    expect(problemsWith({ update: false })).to.deep.equal([
      'email is in the oneof contact, and not every write can clear its column: remove the option, or move its field out of the oneof',
    ])
  })
})
