import { expect } from 'chai'
import type { EntityManager, EntitySubscriberInterface, UpdateEvent } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, Internal } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { HookEvent } from '../../../lib/resource/typeorm/declared-hooks.js'
import { doing, Entry, Task, reported } from '../../support/entities/hooked.js'
import { inAcme, rejection } from '../repository/subject.js'
import { casesOf, type HookedHolder, hookedOptions, quiet } from './hooked-subject.js'

type Heard = Partial<UpdateEvent<Task>> & { readonly manager: EntityManager }

/** What subscribers of the DataSource are told, and what they do. */
export const subscribers = (holder: HookedHolder): void => {
  const heard: (readonly [event: string, entity: Task, more: Heard])[] = []
  const then: Partial<Record<string, (event: Heard, entity: Task) => unknown>> = {}
  const hear = (name: string) => (event: Heard) => {
    const entity = event.entity as unknown as Task
    heard.push([name, entity, event])
    reported.push([name as HookEvent, entity.id])
    return then[name]?.(event, entity)
  }
  const { stored, texts, events } = casesOf(holder)
  const TaskRepository = repositoryOf(Task)
  const repository = () => new TaskRepository(holder.subject.dataSource!, hookedOptions)
  const make = (id: string) =>
    inAcme(() => repository().create({ id, title: 'Cut', code: id, revision: 0, tags: {} }))
  const all = [
    'BeforeInsert',
    'AfterInsert',
    'BeforeUpdate',
    'AfterUpdate',
    'BeforeSoftRemove',
    'AfterSoftRemove',
  ]
  const methods = [...all, 'BeforeRecover', 'AfterRecover'].map(
    (name) => [`${name[0]?.toLowerCase()}${name.slice(1)}`, hear(`of ${name}`)] as const,
  )
  const subscriber = {
    listenTo: () => Task,
    ...Object.fromEntries(methods),
    afterLoad: (entity: Task, event: Heard) => then['of AfterLoad']?.(event, entity),
  } as EntitySubscriberInterface

  describe('a subscriber of an entity', () => {
    before(() => void holder.subject.dataSource!.subscribers.push(subscriber))
    beforeEach(() => {
      heard.length = 0
      for (const name of Object.keys(then)) Reflect.deleteProperty(then, name)
    })
    after(() => void holder.subject.dataSource!.subscribers.splice(0))

    it('is told after the listeners, with the entity, the row before and what changes', async () => {
      await make('a')
      expect(events()).to.deep.equal([
        ...['BeforeInsert a', 'of BeforeInsert a', 'AfterInsert a', 'of AfterInsert a'],
      ])
      quiet()
      heard.length = 0
      await inAcme(() => repository().update('a', { title: 'Polish' }, ['title']))
      const [[, entity, event] = []] = heard
      expect(entity).to.be.instanceOf(Task)
      expect(entity?.title).to.equal('Polish')
      expect((event?.databaseEntity as Task).title).to.equal('Cut')
      expect(event?.updatedColumns?.map(({ propertyName }) => propertyName)).to.include('title')
      expect(event?.metadata?.target).to.equal(Task)
      await inAcme(() => repository().delete('a'))
      await inAcme(() => repository().undelete('a'))
      expect(heard.map(([name]) => name)).to.deep.equal([
        ...['of BeforeUpdate', 'of AfterUpdate', 'of BeforeSoftRemove', 'of AfterSoftRemove'],
        ...['of BeforeRecover', 'of AfterRecover'],
      ])
    })

    it('has what it changes before a write written, and held to the same rules', async () => {
      then['of BeforeInsert'] = (_, task) => (task.slug = 'subscribed')
      expect((await make('a')).slug).to.equal('subscribed')
      then['of BeforeUpdate'] = (_, task) => (task.accountId = 'globex')
      const update = inAcme(() => repository().update('a', { title: 'b' }, ['title']))
      await rejection(update, TypeError, /has changed accountId/)
    })

    it('writes with the manager in the transaction of the write', async () => {
      then['of AfterInsert'] = async ({ manager, queryRunner }, { id }) => {
        expect(manager.queryRunner).to.equal(queryRunner)
        await manager.insert(Entry, { id: `log-${id}`, text: id, accountId: 'acme' })
        if (id === 'b') throw new Aborted('no')
      }
      await make('a')
      expect(await texts()).to.deep.equal(['a'])
      await rejection(make('b'), Aborted)
      await inAcme(() =>
        repository().transaction(async () => {
          await make('c')
          await rejection(make('b'), Aborted)
        }),
      )
      expect([await stored('b'), (await texts()).sort()]).to.deep.equal([undefined, ['a', 'c']])
    })

    it('is told of what was read, with a manager inside and outside of a transaction', async () => {
      await make('a')
      const counts: number[] = []
      then['of AfterLoad'] = async ({ manager }, task) => {
        counts.push(await manager.count(Entry))
        task.label = `seen for ${RequestContext.current().tenant}`
      }
      const read = () => repository().get('a')
      expect((await inAcme(read)).label).to.equal('seen for acme')
      await inAcme(() =>
        repository().transaction(async () => {
          await holder.subject.entries.create({ id: 'e', text: 'inside' })
          await read()
        }),
      )
      expect(counts).to.deep.equal([0, 1])
    })

    it('is told of a commit when it has happened, and of none that was rolled back', async () => {
      const seen: string[] = []
      const hearing: EntitySubscriberInterface = {
        afterTransactionCommit: async () => void seen.push((await texts()).sort().join()),
      }
      const all = holder.subject.dataSource!.subscribers
      all.push(hearing)
      try {
        then['of AfterInsert'] = async ({ manager }, { id }) => {
          await manager.insert(Entry, { id: `log-${id}`, text: id, accountId: 'acme' })
          if (id === 'b') throw new Aborted('no')
        }
        await make('a')
        expect(seen).to.deep.equal(['a'])
        await rejection(make('b'), Aborted)
        await inAcme(() =>
          repository().transaction(async () => {
            await make('c')
            await rejection(make('b'), Aborted)
            expect(seen).to.deep.equal(['a'])
          }),
        )
        expect(seen).to.deep.equal(['a', 'a,c'])
        const failing = inAcme(() =>
          repository().transaction(async () => {
            await make('d')
            throw new Aborted('all')
          }),
        )
        await rejection(failing, Aborted, 'all')
        expect(seen).to.deep.equal(['a', 'a,c'])
      } finally {
        all.splice(all.indexOf(hearing), 1)
      }
    })

    it('is told of a modify inside of withManager, which ends with the transaction of TypeORM', async () => {
      await make('a')
      then['of BeforeUpdate'] = (_, task) => (task.slug = `at ${task.revision}`)
      const modify = (end: () => void) =>
        inAcme(() =>
          holder.subject.dataSource!.transaction(async (manager) => {
            const tasks = repository().withManager(manager)
            await tasks.modify('a', ({ revision }) => ({ revision: revision + 1 }))
            await manager.increment(Task, { id: 'a' }, 'revision', 1)
            const modified = await tasks.modify('a', ({ revision }) => ({ revision: revision + 1 }))
            expect(modified).to.include({ revision: 3, slug: 'at 3' })
            end()
          }),
        )
      const failing = modify(() => {
        throw new Aborted('at the end')
      })
      await rejection(failing, Aborted, 'at the end')
      expect((await stored('a'))?.revision).to.equal(0)
      await modify(() => {})
      expect(await stored('a')).to.include({ revision: 3, slug: 'at 3' })
    })

    it('fails the write with a listener that fails, too, and the process goes on', async () => {
      doing.BeforeInsert = () => Promise.reject(new RangeError('a'))
      then['of BeforeInsert'] = () => {
        throw new RangeError('b')
      }
      const { cause } = await rejection(make('a'), Internal)
      expect(cause).to.have.property('message', 'a')
    })
  })
}
