import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { doing, told } from '../../support/entities/hooked.js'
import { inAcme } from '../repository/subject.js'
import { casesOf, type HookedHolder } from './hooked-subject.js'

/** What `@AfterLoad` is told of. */
export const loads = (holder: HookedHolder): void => {
  const { make, stored, texts } = casesOf(holder)
  const loaded = () => told.filter(([event]) => event === 'AfterLoad').map(([, id]) => id)

  describe('@AfterLoad', () => {
    beforeEach(async () => {
      for (const id of ['a', 'b', 'c']) await make(id, { title: id })
      told.length = 0
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
