import { expect } from 'chai'
import { ErrConflict, Internal } from '../../../lib/errors.js'
import { doing } from '../../support/entities/hooked.js'
import { asTenant, inAcme, rejection } from '../repository/subject.js'
import { casesOf, type HookedHolder } from './hooked-subject.js'

/** Keys that a listener sets. */
export const keys = (holder: HookedHolder): void => {
  const { make } = casesOf(holder)
  const withoutKey = () => make(undefined as never)

  describe('the key of a new entity with hooks', () => {
    it('is the one that @BeforeInsert sets if it is missing', async () => {
      doing.BeforeInsert = (task) => void (task.id ||= `wid_${task.title}`)
      const made = await withoutKey()
      expect(made.id).to.equal('wid_Cut')
      expect(await inAcme(() => holder.subject.tasks.get('wid_Cut'))).to.include({ code: made.code })
      expect((await make('chosen')).id).to.equal('chosen')
    })

    it('is the one that @BeforeInsert sets in any case, after it has waited, in any format', async () => {
      doing.BeforeInsert = async (task) => {
        await Promise.resolve()
        task.id = `Ä ${task.code}`
      }
      const made = await withoutKey()
      expect(made.id).to.equal(`Ä ${made.code}`)
      expect(await inAcme(() => holder.subject.tasks.get(made.id))).to.include({ code: made.code })
    })

    it('is generated after @BeforeInsert if no hook sets it', async () => {
      const seen: unknown[] = []
      doing.BeforeInsert = (task) => void seen.push(task.id)
      doing.AfterInsert = (task) => void seen.push(task.id)
      const { id } = await withoutKey()
      expect(id).to.match(/^[0-9a-f-]{36}$/)
      expect(seen).to.deep.equal([undefined, id])
      doing.BeforeInsert = (task) => void (task.id = '')
      expect((await withoutKey()).id).to.match(/^[0-9a-f-]{36}$/)
    })

    it('is Internal if the column cannot hold what @BeforeInsert sets', async () => {
      for (const key of ['x'.repeat(256), 'a\0b', {}]) {
        doing.BeforeInsert = (task) => void (task.id = key as string)
        await rejection(withoutKey(), Internal)
      }
    })

    it('is a conflict if another row of the tenant has it, and not if a row of another tenant has', async () => {
      doing.BeforeInsert = (task) => void (task.id = 'same')
      await withoutKey()
      await rejection(withoutKey(), ErrConflict)
      const other = await asTenant('umbra', () =>
        holder.subject.tasks.create({ title: 'Cut', code: 'c', revision: 0, tags: {} } as never),
      )
      expect(other).to.include({ id: 'same', accountId: 'umbra' })
    })
  })
}
