import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, ErrConflict, Internal } from '../../../lib/errors.js'
import { doing, type Task } from '../../support/entities/hooked.js'
import { inAcme, rejection } from '../repository/subject.js'
import { casesOf, type HookedHolder } from './hooked-subject.js'

class Stop extends Error {}

/** What hooks do in the transaction of a write. */
export const inside = (holder: HookedHolder): void => {
  const { make, stored, texts, events } = casesOf(holder)
  const log = (task: Task, options = {}) =>
    holder.subject.entries.create({ id: `log-${task.id}-${task.title}`, text: task.title }, options)

  describe('a hook inside of its write', () => {
    it('writes in the same transaction, with the context around it or a context from before', async () => {
      await inAcme(async () => {
        const context = RequestContext.current()
        doing.BeforeInsert = async (task) => {
          await log(task)
          expect(RequestContext.current().principal).to.deep.equal(context.principal)
        }
        doing.AfterInsert = (task) => log({ ...task, title: 'after' } as Task, { context })
        await make('a')
        expect(await texts()).to.deep.equal(['Cut', 'after'])
      })
    })

    for (const event of ['BeforeInsert', 'AfterInsert'] as const)
      it(`rolls everything back when it throws in ${event}`, async () => {
        doing[event] = async (task) => {
          await log(task)
          throw new Aborted('not like this')
        }
        await rejection(make('a'), Aborted, 'not like this')
        expect([await stored('a'), await texts()]).to.deep.equal([undefined, []])
      })

    it('rolls back update, delete, undelete and batches when it throws', async () => {
      for (const id of ['a', 'b']) await make(id)
      const { tasks } = holder.subject
      doing.AfterUpdate = async (task) => {
        await log(task)
        if (task.id === 'b') throw new Stop()
      }
      const item = (key: string) => ({ key, entity: { title: 'new' }, fieldMask: ['title'] }) as const
      await rejection(
        inAcme(() => tasks.batchUpdate([item('a'), item('b')])),
        Internal,
      )
      expect([(await stored('a'))?.title, await texts()]).to.deep.equal(['Cut', []])
      doing.AfterSoftRemove = async (task) => {
        await log(task)
        throw new Stop()
      }
      await rejection(
        inAcme(() => tasks.delete('a')),
        Internal,
      )
      await rejection(
        inAcme(() => tasks.batchDelete(['a', 'b'])),
        Internal,
      )
      expect([(await stored('a'))?.deleteTime, await texts()]).to.deep.equal([undefined, []])
      delete doing.AfterSoftRemove
      await inAcme(() => tasks.delete('a'))
      doing.AfterRecover = async (task) => {
        await log(task)
        throw new Stop()
      }
      await rejection(
        inAcme(() => tasks.undelete('a')),
        Internal,
      )
      expect((await stored('a'))?.deleteTime).to.be.instanceOf(Date)
    })

    it('throws an AshlarError to the caller unchanged, and any other error as Internal', async () => {
      doing.BeforeInsert = () => {
        throw new Stop('a detail')
      }
      const { cause, message } = await rejection(make('a'), Internal)
      expect(cause).to.be.instanceOf(Stop)
      expect(message).not.to.include('a detail')
    })

    it('leaves a transaction around it usable, without what the hook wrote', () =>
      inAcme(async () => {
        doing.AfterInsert = async (task) => {
          await log(task)
          if (task.id === 'b') throw new Aborted('no')
        }
        await holder.subject.tasks.transaction(async () => {
          await make('a')
          await rejection(make('b'), Aborted)
          await make('c', { title: 'Third' })
        })
        expect((await texts()).sort()).to.deep.equal(['Cut', 'Third'])
        const failing = holder.subject.entries.transaction(async () => {
          await make('d')
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect([await stored('b'), await stored('d'), (await texts()).length]).to.deep.equal([
          undefined,
          undefined,
          2,
        ])
      }))

    it('continues after a conflict that it catches', async () => {
      doing.BeforeInsert = async (task) => {
        await log(task)
        await rejection(log(task), ErrConflict)
        await log({ ...task, title: 'again' } as Task)
      }
      await make('a')
      expect(await texts()).to.deep.equal(['Cut', 'again'])
    })

    it('calls the same repository, which calls its hooks', async () => {
      doing.AfterInsert = async (task) => {
        if (task.id.length < 3) await make(`${task.id}a`)
      }
      await make('a')
      expect(events()).to.deep.equal([
        ...[
          'BeforeInsert a',
          'AfterInsert a',
          'BeforeInsert aa',
          'AfterInsert aa',
          'BeforeInsert aaa',
          'AfterInsert aaa',
        ],
      ])
      doing.BeforeUpdate = async (task) => {
        if (task.revision > 0) return
        task.slug = 'outer'
        await holder.subject.tasks.update(task.id, { revision: 1 }, ['revision'])
      }
      const updated = await inAcme(() => holder.subject.tasks.update('a', { title: 'b' }, ['title']))
      expect(updated).to.include({ title: 'b', slug: 'outer', revision: 1 })
    })

    it('fails when it calls itself endlessly, and leaves nothing', async () => {
      doing.BeforeInsert = (task) => make(`${task.id}a`)
      const { message } = await rejection(make('a'), TypeError)
      expect(message).to.match(
        /^@BeforeInsert\(\) of Task is nested in 32 transactions: a hook makes a call that/,
      )
      expect(await stored('a')).to.equal(undefined)
    })

    it('handles and names the failure of a call that it did not await', async () => {
      const unhandled: unknown[] = []
      const note = (error: unknown) => void unhandled.push(error)
      process.on('unhandledRejection', note)
      try {
        await make('taken')
        for (const event of ['BeforeInsert', 'AfterInsert', 'BeforeUpdate', 'AfterUpdate'] as const) {
          for (const call of [
            () => holder.subject.entries.create({ id: '\0', text: '' }),
            () => holder.subject.tasks.get('missing'),
            () => holder.subject.slow.get('missing'),
            () => holder.subject.tasks.transaction(() => Promise.reject(new RangeError('a detail'))),
          ]) {
            doing[event] = () => void call()
            const failed = event.endsWith('Insert')
              ? make('a')
              : inAcme(() => holder.subject.tasks.update('taken', { title: 'x' }, ['title']))
            const { message } = await rejection(failed, TypeError)
            expect(message).to.match(
              new RegExp(
                `^@${event}\\(\\) of Task did not await (Entry.create|Entry.get|Task.get|a transaction|Task.transaction)`,
              ),
            )
            delete doing[event]
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        }
        expect([await stored('a'), (await stored('taken'))?.title, unhandled]).to.deep.equal([
          undefined,
          'Cut',
          [],
        ])
      } finally {
        process.off('unhandledRejection', note)
      }
    })

    it('leaves no failure of its other calls unhandled when it throws', async () => {
      const unhandled: unknown[] = []
      const note = (error: unknown) => void unhandled.push(error)
      process.on('unhandledRejection', note)
      try {
        doing.BeforeInsert = () => {
          void holder.subject.tasks.get('missing')
          throw new Aborted('first')
        }
        await rejection(make('a'), Aborted, 'first')
        await new Promise((resolve) => setTimeout(resolve, 5))
        expect(unhandled).to.deep.equal([])
      } finally {
        process.off('unhandledRejection', note)
      }
    })

    it('must await its calls', async () => {
      doing.AfterInsert = (task) => void log(task)
      const { message } = await rejection(make('a'), TypeError)
      expect(message).to.include('did not await Entry.create')
      expect([await stored('a'), await texts()]).to.deep.equal([undefined, []])
    })

    it('runs afterCommit functions after the outermost commit, or never', () =>
      inAcme(async () => {
        const ran: string[] = []
        doing.AfterInsert = ({ id }) => {
          RequestContext.current().afterCommit(() => ran.push(id))
          if (id === 'b') throw new Aborted('no')
        }
        await make('a')
        expect(ran).to.deep.equal(['a'])
        await rejection(make('b'), Aborted)
        await holder.subject.tasks.transaction(async () => {
          await make('c')
          await rejection(make('b'), Aborted)
          expect(ran).to.deep.equal(['a'])
        })
        expect(ran).to.deep.equal(['a', 'c'])
      }))

    it('is rejected in a read-only transaction, before it is called', () =>
      inAcme(async () => {
        const reading = holder.subject.tasks.transaction(() => make('a'), { readOnly: true })
        await rejection(reading, TypeError, /Task\.create inside a transaction with readOnly: true/)
        expect(events()).to.deep.equal([])
      }))

    it('receives validateOnly', async () => {
      const seen: boolean[] = []
      doing.BeforeInsert = () => void seen.push(RequestContext.current().validateOnly)
      await make('a')
      await inAcme(() =>
        RequestContext.current()
          .with({ validateOnly: true })
          .run(() => make('b')),
      )
      expect(seen).to.deep.equal([false, true])
    })
  })
}
