import { expect } from 'chai'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { doing, Task, reported } from '../../support/entities/hooked.js'
import { asTenant, inAcme, rejection } from '../repository/subject.js'
import { casesOf, type HookedHolder, quiet } from './hooked-subject.js'

/** What hooks are told of writes, and what becomes of what they change. */
export const writes = (holder: HookedHolder): void => {
  const { make, stored, events } = casesOf(holder)

  describe('hooks around a write', () => {
    it('run on the whole entity as it will be stored', async () => {
      const seen: Task[] = []
      for (const event of ['BeforeInsert', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate'] as const)
        doing[event] = (task) => void seen.push(Object.assign(Object.create(Task.prototype) as Task, task))
      const made = await make('a', { tags: { size: 'small' } })
      const updated = await inAcme(() => holder.subject.tasks.update('a', { title: 'Polish' }, ['title']))
      expect(events()).to.deep.equal(['BeforeInsert a', 'AfterInsert a', 'BeforeUpdate a', 'AfterUpdate a'])
      const common = { id: 'a', accountId: 'acme', code: made.code, tags: { size: 'small' } }
      expect(seen[0]).to.deep.include({ ...common, title: 'Cut', etag: made.etag })
      expect(seen[0]?.createTime).to.be.instanceOf(Date)
      expect(seen[1]).to.deep.include({ ...common, title: 'Cut', etag: made.etag })
      expect(seen[2]).to.deep.include({ ...common, title: 'Polish', etag: updated.etag })
      expect(seen[3]).to.deep.include({ ...common, title: 'Polish', etag: updated.etag })
      expect(updated.etag).not.to.equal(made.etag)
    })

    it('write what they change, whatever the mask names', async () => {
      doing.BeforeInsert = (task) => {
        task.slug = task.title.toLowerCase()
        task.tags['made'] = 'yes'
        task.state = 'new'
      }
      const made = await make('a')
      expect(made).to.deep.include({ slug: 'cut', tags: { made: 'yes' }, state: 'new' })
      doing.BeforeUpdate = async (task) => {
        await Promise.resolve()
        task.slug = task.title.toLowerCase()
        task.revision++
        delete task.state
        delete task.tags['made']
        task.expireTime = new Date(8.64e12)
      }
      const updated = await inAcme(() => holder.subject.tasks.update('a', { title: 'Polish' }, ['title']))
      const expected = {
        slug: 'polish',
        revision: 1,
        tags: {},
        expireTime: new Date(8.64e12),
        title: 'Polish',
      }
      expect(updated).to.deep.include(expected)
      expect(await stored('a')).to.deep.include({ ...expected, state: undefined })
    })

    it('run the update hooks of modify under its lock, and leave nothing when one fails', async () => {
      const { tasks } = holder.subject
      const add = () => inAcme(() => tasks.modify('a', ({ revision }) => ({ revision: revision + 1 })))
      await make('a')
      quiet()
      doing.BeforeUpdate = (task) => void (task.slug = `at ${task.revision}`)
      expect(await add()).to.include({ revision: 1, slug: 'at 1' })
      expect(events()).to.deep.equal(['BeforeUpdate a', 'AfterUpdate a'])
      await Promise.all(Array.from({ length: 8 }, add))
      expect(await stored('a')).to.include({ revision: 9, slug: 'at 9' })
      doing.AfterUpdate = () => {
        throw new ErrPreconditionFailed()
      }
      await rejection(add(), ErrPreconditionFailed)
      expect(await stored('a')).to.include({ revision: 9, slug: 'at 9' })
      quiet()
      await inAcme(() => tasks.modify('a', () => ({})))
      expect(events()).to.deep.equal([])
    })

    it('read the sum of an increment, which the statement still adds', async () => {
      await make('a', { revision: 4 })
      const add = (by: number) => () =>
        holder.subject.tasks.update('a', { revision: increment(by) }, ['revision'])
      const seen: number[] = []
      doing.BeforeUpdate = async (task) => {
        seen.push(task.revision)
        if (seen.length === 1) await add(10)()
      }
      expect((await inAcme(add(1))).revision).to.equal(15)
      expect(seen).to.deep.equal([5, 14])
      await rejection(inAcme(add(2 ** 31 - 1)), InvalidArgument)
      expect((await stored('a'))?.revision).to.equal(15)
    })

    it('change only the returned entity after the write', async () => {
      doing.AfterInsert = (task) => (task.title = 'shown')
      doing.AfterUpdate = (task) => (task.label = 'shown')
      expect((await make('a')).title).to.equal('shown')
      const updated = await inAcme(() => holder.subject.tasks.update('a', { code: 'c' }, ['code']))
      expect(updated).to.include({ title: 'Cut', label: 'shown' })
      expect((await stored('a'))?.title).to.equal('Cut')
    })

    const never: readonly (readonly [string, (task: Record<string, unknown>) => unknown])[] = [
      ['id', (task) => (task['id'] = 'b')],
      ['accountId', (task) => (task['accountId'] = 'globex')],
      ['etag', (task) => (task['etag'] = 'mine')],
      ['createTime', (task) => (task['createTime'] as Date).setTime(0)],
      ['updateTime', (task) => (task['updateTime'] = undefined)],
      ['deleteTime', (task) => (task['deleteTime'] = new Date(5))],
      ['pin', (task) => (task['pin'] = 'secret')],
      ['pin_cipher', (task) => (task['pin_cipher'] = 'x')],
      ['token', (task) => (task['token'] = 'x')],
      ['token_hash', (task) => (task['token_hash'] = 'x')],
    ]
    for (const [property, change] of never)
      it(`reject a change of ${property} by name`, async () => {
        doing.BeforeInsert = change as never
        const refused = await rejection(make('a'), TypeError)
        expect(refused.message).to.match(new RegExp(`^@BeforeInsert\\(\\) of Task has changed ${property}: `))
        quiet()
        await make('a')
        for (const [event, write] of [
          ['BeforeUpdate', () => holder.subject.tasks.update('a', { title: 'b' }, ['title'])],
          ['BeforeSoftRemove', () => holder.subject.tasks.delete('a')],
        ] as const) {
          quiet()
          doing[event] = change as never
          const { message } = await rejection(inAcme<unknown>(write), TypeError)
          expect(message).to.match(new RegExp(`^@${event}\\(\\) of Task has changed ${property}: `))
        }
        expect(await stored('a')).to.include({ title: 'Cut', deleteTime: undefined })
      })

    it('report which value the column cannot hold', async () => {
      doing.BeforeInsert = (task) => (task.revision = 2 ** 40)
      await rejection(make('a'), InvalidArgument, /^revision: must be an integer/)
      doing.BeforeInsert = (task) => (task.code = 'taken')
      await make('a')
      await rejection(make('b'), ErrConflict)
      expect(await stored('b')).to.equal(undefined)
    })

    it('run on soft delete and undelete, and change what is stored', async () => {
      const made = await make('a')
      doing.BeforeSoftRemove = (task) => {
        expect(task.deleteTime).to.be.instanceOf(Date)
        task.code += '-deleted'
      }
      doing.BeforeRecover = (task) => {
        expect(task.deleteTime).to.equal(undefined)
        task.code = task.code.replace('-deleted', '')
      }
      await inAcme(() => holder.subject.tasks.delete('a'))
      expect((await stored('a'))?.code).to.equal(`${made.code}-deleted`)
      const back = await inAcme(() => holder.subject.tasks.undelete('a'))
      expect(back).to.include({ code: made.code, deleteTime: undefined })
      expect(events('BeforeInsert', 'AfterInsert')).to.deep.equal([
        ...['BeforeSoftRemove a', 'AfterSoftRemove a', 'BeforeRecover a', 'AfterRecover a'],
      ])
    })

    it('run on a hard delete', () =>
      inAcme(async () => {
        await holder.subject.entries.create({ id: 'e', text: 'x' })
        await holder.subject.entries.delete('e')
        expect(reported).to.deep.equal([
          ['BeforeRemove', 'e'],
          ['AfterRemove', 'e'],
        ])
        await rejection(holder.subject.entries.get('e'), ErrNotFound)
      }))

    it('run for each item of a batch, in key order', async () => {
      for (const id of ['c', 'a', 'b']) await make(id)
      quiet()
      doing.BeforeUpdate = (task) => (task.slug = `${task.title} ${task.id}`)
      const items = ['c', 'a', 'b'].map(
        (key) => ({ key, entity: { title: key }, fieldMask: ['title'] }) as const,
      )
      const updated = await inAcme(() => holder.subject.tasks.batchUpdate(items))
      expect(updated.map(({ id, slug }) => `${id}: ${slug}`)).to.deep.equal(['c: c c', 'a: a a', 'b: b b'])
      const around = (id: string, event: string) => [`Before${event} ${id}`, `After${event} ${id}`]
      expect(events()).to.deep.equal(['a', 'b', 'c'].flatMap((id) => around(id, 'Update')))
      quiet()
      await inAcme(() => holder.subject.tasks.batchDelete(['c', 'a', 'b']))
      expect(events()).to.deep.equal(['a', 'b', 'c'].flatMap((id) => around(id, 'SoftRemove')))
    })

    it('run for a new credential, and not for a purge', async () => {
      await make('a', { expireTime: new Date(0) })
      quiet()
      doing.BeforeUpdate = (task) => task.revision++
      await inAcme(() => holder.subject.tasks.remintToken('a'))
      expect(events()).to.deep.equal(['BeforeUpdate a', 'AfterUpdate a'])
      expect((await stored('a'))?.revision).to.equal(1)
      quiet()
      expect(await inAcme(() => holder.subject.tasks.purgeExpired(new Date(1)))).to.equal(1)
      expect(reported).to.deep.equal([])
    })

    it('receive neither secret nor token, while the caller gets both', async () => {
      const seen: unknown[] = []
      for (const event of ['BeforeInsert', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate'] as const)
        doing[event] = (task) =>
          void seen.push(task.pin, task.token, ...Object.keys(task).filter((key) => /_/.test(key)))
      const made = await make('a', { pin: '1234' } as object)
      expect(made.token).to.match(/^ib_/)
      await inAcme(() => holder.subject.tasks.update('a', { pin: '5678' } as object, ['pin']))
      expect(seen.filter((value) => value !== undefined)).to.deep.equal([])
      expect(await inAcme(() => holder.subject.tasks.revealPin('a'))).to.equal('5678')
    })

    it('do not run for a missing row, another tenant’s row or another etag', async () => {
      const { etag } = await make('a')
      quiet()
      const { tasks } = holder.subject
      await rejection(
        asTenant('globex', () => tasks.update('a', { title: 'b' }, ['title'])),
        ErrNotFound,
      )
      await rejection(
        asTenant('globex', () => tasks.delete('a')),
        ErrNotFound,
      )
      await inAcme(async () => {
        const stale = { ifMatch: 'stale' }
        await rejection(tasks.update('a', { title: 'b' }, ['title'], stale), ErrPreconditionFailed)
        await rejection(tasks.delete('a', stale), ErrPreconditionFailed)
        await rejection(tasks.delete('b'), ErrNotFound)
        await rejection(tasks.undelete('a'), ErrNotFound)
        await rejection(
          tasks.update('a', { title: 'b' }, ['title'], { where: filter`title = ${'x'}` }),
          ErrNotFound,
        )
        expect(reported).to.deep.equal([])
        await tasks.delete('a', { ifMatch: etag })
        await rejection(tasks.undelete('a', { ifMatch: etag }), ErrPreconditionFailed)
      })
      expect(events()).to.deep.equal(['BeforeSoftRemove a', 'AfterSoftRemove a'])
    })

    it('lose no concurrent write', async () => {
      await make('a')
      doing.BeforeUpdate = async (task) => {
        await new Promise((resolve) => setImmediate(resolve))
        task.revision++
      }
      const touch = (n: number) => inAcme(() => holder.subject.tasks.update('a', { slug: `s${n}` }, ['slug']))
      await Promise.all(Array.from({ length: 8 }, (_, n) => touch(n)))
      expect((await stored('a'))?.revision).to.equal(8)
    })
  })
}
