import { expect } from 'chai'
import { ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { type Backend, backends, describeOn } from '../../support/databases/backends.js'
import { doing, reported } from '../../support/entities/hooked.js'
import { openFamily, type OpenFamily } from '../deletion/family-subject.js'
import { openTold, type ToldSubject } from '../events/reported-subject.js'
import { type HookedSubject, openHooked } from './hooked-subject.js'
import { inAcme, rejection } from '../repository/subject.js'

/** Opens a subject for the tests of a suite. */
const opened = <S extends { clear(): Promise<void>; close(): Promise<void> }>(
  backend: Backend,
  open: (backend: Backend) => Promise<S>,
): (() => S) => {
  let subject: S | undefined
  before(async () => {
    subject = await open(backend)
  })
  beforeEach(() => subject?.clear())
  after(() => subject?.close())
  return () => subject as S
}

describeOn('many rows', backends, (backend) => {
  describe('of a resource with hooks', () => {
    const subject = opened<HookedSubject>(backend, openHooked)
    const forget = () => {
      for (const event of Object.keys(doing) as (keyof typeof doing)[]) delete doing[event]
    }
    beforeEach(forget)
    afterEach(forget)
    const make = async (...ids: string[]) => {
      for (const id of ids)
        await subject().tasks.create({ id, title: 'old', code: id, revision: 1, tags: {} })
      reported.length = 0
    }

    it('calls the hooks of each row', () =>
      inAcme(async () => {
        await make('a', 'b')
        doing.BeforeUpdate = (task) => void (task.slug = `slug-${task.id}`)
        expect(await subject().tasks.updateMany(filter`title = "old"`, { revision: 2 })).to.equal(2)
        const { items } = await subject().tasks.list({ orderBy: 'id' })
        expect(items.map(({ slug, revision }) => `${slug} ${revision}`)).to.deep.equal([
          'slug-a 2',
          'slug-b 2',
        ])
        reported.length = 0
        expect(await subject().tasks.deleteMany(filter`title = "old"`)).to.equal(2)
        expect(reported.filter(([event]) => event === 'AfterSoftRemove').map(([, id]) => id)).to.deep.equal([
          'a',
          'b',
        ])
      }))

    it('writes nothing if a hook rejects one of the rows', () =>
      inAcme(async () => {
        await make('a', 'b')
        doing.BeforeUpdate = ({ id }) => {
          if (id === 'b') throw new InvalidArgument('revision', 'no')
        }
        await rejection(subject().tasks.updateMany(filter`title = "old"`, { revision: 2 }), InvalidArgument)
        const { items } = await subject().tasks.list()
        expect(items.map(({ revision }) => revision)).to.deep.equal([1, 1])
      }))

    it('writes more rows than a batch holds, in one transaction', () =>
      inAcme(async () => {
        const ids = Array.from({ length: 1003 }, (_, index) => `t${index}`)
        await make(...ids)
        const { tasks } = subject()
        await rejection(tasks.updateMany(filter`title = "old"`, { revision: 2 }), ErrPreconditionFailed)
        expect(await tasks.updateMany(filter`title = "old"`, { revision: 2 }, { limit: 1003 })).to.equal(1003)
        expect(await tasks.count({ filter: 'revision = 2' })).to.equal(1003)
        expect(await tasks.deleteMany(filter`title = "old"`, { limit: 2000 })).to.equal(1003)
        expect(await tasks.count()).to.equal(0)
      }))
  })

  describe('of a resource with events', () => {
    const subject = opened<ToldSubject>(backend, openTold)

    it('writes an event for each row', () =>
      inAcme(async () => {
        const { ledgers } = subject().of
        for (const id of ['a', 'b']) await ledgers.create({ id, title: 'old', pages: 1 })
        await ledgers.updateMany(filter`title = "old"`, { pages: 2 })
        await ledgers.deleteMany(filter`title = "old"`)
        const events = await subject().events()
        expect(events.map(({ key, type }) => `${key} ${type.split('.').at(-1)}`)).to.deep.equal([
          ...['a created', 'b created', 'a updated', 'b updated', 'a deleted', 'b deleted'],
        ])
      }))
  })

  describe('of a resource with relations', () => {
    const subject = opened<OpenFamily>(backend, openFamily)
    const make = async () => {
      const { projects, milestones } = subject().of
      for (const id of ['p1', 'p2']) await projects.create({ id, title: 'old' })
      await milestones.create({ id: 'm1', projectId: 'p1' })
    }

    it('deletes what belongs to the rows, and not what another row refers to', () =>
      inAcme(async () => {
        await make()
        const { projects, milestones, invoices } = subject().of
        expect(await projects.deleteMany(filter`title = "old"`)).to.equal(2)
        expect(await milestones.count()).to.equal(0)
        await projects.undelete('p1')
        expect(await milestones.count()).to.equal(1)
        await invoices.create({ id: 'i1', projectId: 'p1' })
        await rejection(projects.deleteMany(filter`title = "old"`), ErrPreconditionFailed)
        expect(await projects.count()).to.equal(1)
      }))

    it('rejects a reference to a missing row', () =>
      inAcme(async () => {
        await make()
        const { milestones } = subject().of
        await rejection(milestones.updateMany(filter`id = "m1"`, { projectId: 'none' }), InvalidArgument)
        expect(await milestones.updateMany(filter`id = "m1"`, { projectId: 'p2' })).to.equal(1)
        expect((await milestones.get('m1')).projectId).to.equal('p2')
      }))

    it('writes rows without hooks, events or relations by one statement', () =>
      inAcme(async () => {
        const { dataSource, of } = subject()
        if (dataSource === undefined) return
        await make()
        const write = async () => {
          await of.projects.updateMany(filter`title = "old"`, { title: 'old' })
          await of.remarks.deleteMany(filter`id = "r1"`)
        }
        // The first write to a table reads its triggers.
        await write()
        const texts: string[] = []
        const stop = watchStatements(dataSource, ({ text }) => texts.push(text))
        await write()
        stop()
        const written = texts.filter((text) => /^(?:UPDATE|DELETE|SELECT|WITH)/.test(text))
        expect(written).to.have.length(2)
        for (const text of written) expect(text).to.match(/account_id/)
      }))
  })
})
