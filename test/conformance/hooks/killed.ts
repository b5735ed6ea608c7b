import { expect } from 'chai'
import type { DataSource, EntityManager, EntitySubscriberInterface } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { Unavailable } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { everyStatementMayBeTheLast } from '../../support/databases/every-statement-may-be-the-last.js'
import { drilling } from '../../support/drill.js'
import { doing, Entry, Task } from '../../support/entities/hooked.js'
import { inAcme } from '../repository/subject.js'
import { casesOf, type HookedHolder, hookedOptions, quiet } from './hooked-subject.js'

/** In a test without drilling, one operation of each shape. */
const SHAPES = ['create', 'update', 'delete', 'batchUpdate', 'removal']

/** A connection that the server ends before any statement of a write, of its hooks, or of a subscriber. */
export const killed = (holder: HookedHolder, dataSource: () => DataSource): void => {
  const { make } = casesOf(holder)
  const TaskRepository = repositoryOf(Task)
  let committed: string[] = []
  const note = (what: string) => RequestContext.current().afterCommit(() => void committed.push(what))

  /** What is stored, without what differs each time. */
  const snapshot = () =>
    inAcme(async () => {
      const { items } = await holder.subject.tasks.list({ showDeleted: true, orderBy: 'id' })
      const { items: entries } = await holder.subject.entries.list({ orderBy: 'id' })
      return [
        ...items.map(({ id, title, slug, deleteTime }) => [id, title, slug, deleteTime !== undefined]),
        ...entries.map(({ id, text }) => [id, text]),
      ]
    })
  const rows = async () => {
    quiet()
    await holder.subject.clear()
    for (const id of ['a', 'b', 'gone']) await make(id)
    await inAcme(async () => {
      await holder.subject.tasks.delete('gone')
      for (const id of ['x', 'y']) await holder.subject.entries.create({ id, text: 'there' })
    })
  }

  /** Each statement of it is lost once: `hooked` says what its hooks do. */
  const lose = async (operation: () => Promise<unknown>, hooked: () => void): Promise<void> => {
    let before: unknown
    let all: unknown
    await everyStatementMayBeTheLast(dataSource(), {
      prepare: async () => {
        await rows()
        before = await snapshot()
        hooked()
        committed = []
      },
      operation: () => inAcme(operation),
      refused: (error, isCommit) => {
        expect(error).to.be.instanceOf(Unavailable)
        expect(error)
          .to.have.property('message')
          .that.matches(isCommit ? /it is unknown whether the changes were saved/ : /connection .* was lost/)
      },
      left: async (what) => {
        quiet()
        const now = await snapshot()
        if (what === 'nothing') {
          expect([now, committed]).to.deep.equal([before, []])
          hooked()
          return
        }
        all ??= now
        expect(now).to.deep.equal(all).and.to.not.deep.equal(before)
        expect(committed).to.not.be.empty
      },
    })
  }

  describe('a connection killed before any statement of a write and its hooks', () => {
    const item = (key: string) => ({ key, entity: { title: 'changed' }, fieldMask: ['title'] }) as const
    const operations: Record<string, () => Promise<unknown>> = {
      create: () =>
        holder.subject.tasks.create({ id: 'new', title: 'Cut', code: 'new', revision: 0, tags: {} }),
      update: () => holder.subject.tasks.update('a', { title: 'changed' }, ['title']),
      delete: () => holder.subject.tasks.delete('a'),
      undelete: () => holder.subject.tasks.undelete('gone'),
      removal: () => holder.subject.entries.delete('x'),
      batchUpdate: () => holder.subject.tasks.batchUpdate([item('b'), item('a')]),
      batchDelete: () => holder.subject.tasks.batchDelete(['a', 'b']),
      'removal in a batch': () => holder.subject.entries.batchDelete(['x', 'y']),
      'a transaction of several': () =>
        holder.subject.tasks.transaction(async () => {
          await holder.subject.tasks.update('a', { title: 'changed' }, ['title'])
          await holder.subject.entries.delete('x')
        }),
    }
    const log = (when: string) => async (entity: Task | Entry) => {
      note(`${when} ${entity.id}`)
      if (entity instanceof Task && when === 'before') entity.slug = `slug of ${entity.id}`
      await holder.subject.entries.create({ id: `${when}-${entity.id}`, text: when })
    }
    const hooked = () => {
      for (const event of ['Insert', 'Update', 'SoftRemove', 'Recover', 'Remove'] as const) {
        doing[`Before${event}`] = log('before')
        doing[`After${event}`] = log('after')
      }
    }
    for (const [name, operation] of Object.entries(operations))
      if (drilling || SHAPES.includes(name))
        it(`${name} leaves nothing, and rejects`, () => lose(operation, hooked))
  })

  describe('a connection killed before any statement of a subscriber', () => {
    const hear =
      (when: string) =>
      async ({ manager, entity }: { readonly manager: EntityManager; readonly entity?: unknown }) => {
        const { id } = entity as Task
        note(`${when} ${id}`)
        await manager.insert(Entry, { id: `${when}-${id}`, text: when, accountId: 'acme' })
      }
    const subscriber = {
      listenTo: () => Task,
      beforeInsert: hear('before'),
      afterInsert: hear('after'),
      beforeUpdate: hear('before'),
      afterUpdate: hear('after'),
      afterSoftRemove: hear('after'),
      afterTransactionCommit: () => void committed.push('told of the commit'),
    } as EntitySubscriberInterface
    const told = () => new TaskRepository(dataSource(), hookedOptions)
    before(() => void dataSource().subscribers.push(subscriber))
    after(() => void dataSource().subscribers.splice(0))

    const item = (key: string) => ({ key, entity: { title: 'changed' }, fieldMask: ['title'] }) as const
    const operations: Record<string, () => Promise<unknown>> = {
      create: () => told().create({ id: 'new', title: 'Cut', code: 'new', revision: 0, tags: {} }),
      update: () => told().update('a', { title: 'changed' }, ['title']),
      delete: () => told().delete('a'),
      batchUpdate: () => told().batchUpdate([item('b'), item('a')]),
    }
    for (const [name, operation] of Object.entries(operations))
      if (drilling || name === 'update')
        it(`${name} leaves nothing, and rejects`, () => lose(operation, () => {}))
  })
}
