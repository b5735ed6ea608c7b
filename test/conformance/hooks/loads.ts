import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { doing, reported } from '../../support/entities/hooked.js'
import { inAcme, rejection } from '../repository/subject.js'
import { casesOf, type HookedHolder } from './hooked-subject.js'

/** What `@AfterLoad` is told of. */
export const loads = (holder: HookedHolder): void => {
  const { make, stored, texts } = casesOf(holder)
  const loaded = () => reported.filter(([event]) => event === 'AfterLoad').map(([, id]) => id)

  describe('@AfterLoad', () => {
    beforeEach(async () => {
      for (const id of ['a', 'b', 'c']) await make(id, { title: id })
      reported.length = 0
      doing.AfterLoad = (task) => {
        task.label = `${task.title}!`
        task.slug = 'shown'
      }
    })

    it('follows get, list and batchGet, and changes only what they return', () =>
      inAcme(async () => {
        const { tasks } = holder.subject
        expect(await tasks.get('a')).to.include({ label: 'a!', slug: 'shown' })
        const { items } = await tasks.list({ orderBy: 'title desc' })
        expect(items.map(({ label }) => label)).to.deep.equal(['c!', 'b!', 'a!'])
        const batch = await tasks.batchGet(['b', 'a'])
        expect(batch.map(({ label }) => label)).to.deep.equal(['b!', 'a!'])
        expect(loaded()).to.deep.equal(['a', 'c', 'b', 'a', 'b', 'a'])
        expect((await stored('a'))?.slug).to.equal(undefined)
      }))

    it('does not follow a write, nor the read before it', async () => {
      const updated = await inAcme(() => holder.subject.tasks.update('a', { title: 'x' }, ['title']))
      expect([updated.label, updated.slug, loaded()]).to.deep.equal([undefined, undefined, []])
      expect((await stored('a'))?.slug).to.equal(undefined)
    })

    it('changes nothing about the pages of a list', () =>
      inAcme(async () => {
        doing.AfterLoad = (task) => {
          task.title = 'z'
          task.id = 'z'
        }
        const { tasks } = holder.subject
        const titles: string[] = []
        for (let pageToken = ''; ;) {
          const page = await tasks.list({ orderBy: 'title', pageSize: 1, pageToken })
          titles.push(...page.items.map(({ code }) => code))
          if ((pageToken = page.nextPageToken) === '') break
        }
        expect(new Set(titles).size).to.equal(3)
      }))

    it('reads and writes in the transaction around it, and in none where there is none', () =>
      inAcme(async () => {
        const { tasks, entries } = holder.subject
        const context = RequestContext.current()
        doing.AfterLoad = async ({ id }) => void (await entries.create({ id: `seen-${id}`, text: id }))
        await tasks.get('a')
        expect(await texts()).to.deep.equal(['a'])
        const failing = tasks.transaction(async () => {
          await tasks.get('b', { context })
          throw new TypeError('back')
        })
        await failing.catch(() => {})
        expect(await texts()).to.deep.equal(['a'])
      }))

    it('is told when it reads itself without end, outside of a transaction and inside', () =>
      inAcme(async () => {
        const { tasks } = holder.subject
        for (const read of [() => tasks.get('a'), () => tasks.list(), () => tasks.batchGet(['a', 'b'])]) {
          let depth = 0
          doing.AfterLoad = async () => {
            depth++
            await read()
          }
          const { message } = await rejection(read(), TypeError)
          expect(message).to.match(/^@AfterLoad\(\) of Task is nested in 32 hooks: a hook makes a call that/)
          expect(depth).to.equal(32)
          await tasks.transaction(() => rejection(read(), TypeError))
        }
        doing.AfterLoad = async (task) => {
          // Only so deep as there are others.
          if (task.id !== 'c') await tasks.get(task.id === 'a' ? 'b' : 'c')
        }
        expect((await tasks.get('a')).id).to.equal('a')
      }))

    it('has no call of its own left behind: a failure of one is handled, and named', () =>
      inAcme(async () => {
        const unhandled: unknown[] = []
        const note = (error: unknown) => void unhandled.push(error)
        process.on('unhandledRejection', note)
        try {
          const { tasks, entries } = holder.subject
          for (const work of [<T>(fn: () => Promise<T>) => fn(), tasks.transaction.bind(tasks)]) {
            doing.AfterLoad = () => void entries.get('missing')
            const { message } = await rejection(
              work(() => tasks.get('a')),
              TypeError,
            )
            expect(message).to.equal(
              '@AfterLoad() of Task did not await Entry.get: await it in the hook, or return its promise',
            )
            doing.AfterLoad = () => {
              void entries.get('missing')
              throw new TypeError('first')
            }
            await rejection(
              work(() => tasks.list()),
              TypeError,
              'first',
            )
          }
          // What is handled in the hook is nobody else's.
          doing.AfterLoad = async () => void (await entries.get('missing').catch(() => undefined))
          expect((await tasks.get('a')).id).to.equal('a')
          doing.AfterLoad = () => void RequestContext.detached(() => entries.list())
          expect((await tasks.get('a')).id).to.equal('a')
          await new Promise((resolve) => setTimeout(resolve, 5))
          expect(unhandled).to.deep.equal([])
        } finally {
          process.off('unhandledRejection', note)
        }
      }))

    it('has a call logged that comes after it and fails', async () => {
      const failures: { readonly message: string; readonly error: unknown }[] = []
      let isLogged = () => {}
      const logged = new Promise<void>((resolve) => (isLogged = resolve))
      const context = new RequestContext({
        principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] },
        onFailure: (failure) => {
          failures.push(failure)
          isLogged()
        },
      })
      await context.run(async () => {
        const { tasks, entries } = holder.subject
        let isBack = () => {}
        const back = new Promise<void>((resolve) => (isBack = resolve))
        doing.AfterLoad = () => void back.then(() => void entries.get('missing'))
        await tasks.get('a')
        isBack()
        await logged
      })
      expect(failures.map(({ message }) => message)).to.deep.equal([
        'Entry.get was called after the hook that made the call had returned, and failed',
      ])
    })

    it('has afterCommit run at once outside of a transaction, and after the commit inside', () =>
      inAcme(async () => {
        const ran: string[] = []
        doing.AfterLoad = ({ id }) => RequestContext.current().afterCommit(() => ran.push(id))
        const { tasks } = holder.subject
        await tasks.get('a')
        expect(ran).to.deep.equal(['a'])
        await tasks.transaction(async () => {
          await tasks.get('b')
          expect(ran).to.deep.equal(['a'])
        })
        expect(ran).to.deep.equal(['a', 'b'])
      }))

    it('fails the read when it throws', () =>
      inAcme(async () => {
        doing.AfterLoad = ({ id }) => {
          if (id === 'b') throw new RangeError('b')
        }
        const { tasks } = holder.subject
        expect((await tasks.get('a')).id).to.equal('a')
        for (const read of [() => tasks.get('b'), () => tasks.list(), () => tasks.batchGet(['a', 'b'])]) {
          const error = await read().then(
            () => undefined,
            (reason: Error) => reason,
          )
          expect(error).to.have.nested.property('cause.message', 'b')
        }
      }))
  })
}
