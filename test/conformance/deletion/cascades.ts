import { filter } from '../../../lib/persistence/query/filter-template.js'
import { expect } from 'chai'
import { ErrPreconditionFailed } from '../../../lib/errors.js'
import { rejection } from '../../support/rejection.js'
import { heard, onHook } from '../../support/entities/family.js'
import { as, familyCases, familyClock, type FamilyHolder, inAcme } from './family-subject.js'
import { toldOf } from './refusals.js'

/** What goes with an entity that is deleted softly. */
export const cascades = (holder: FamilyHolder): void => {
  const { of, rows, project, job, remark, milestone } = familyCases(holder)

  describe('cascade', () => {
    it('deletes three levels, writes their etags and times, and calls their hooks', async () => {
      await project('p')
      await milestone('m', 'p')
      const made = await job('a', { milestoneId: 'm' })
      await job('b', { aboveId: 'a' })
      await job('other')
      familyClock.now = new Date('2026-05-05T05:05:05.055Z')
      await inAcme(() => of().projects.delete('p'))
      expect(await rows('deleted')).to.deep.equal(['job a', 'job b', 'milestone m', 'project p'])
      expect(await rows('live')).to.deep.equal(['job other'])
      const { items } = await inAcme(() => of().jobs.list({ showDeleted: true }))
      const taken = items.find(({ id }) => id === 'a')
      expect(taken?.etag).to.not.equal(made.etag)
      expect(taken?.deleteTime).to.deep.equal(familyClock.now)
      expect(taken?.updateTime).to.deep.equal(familyClock.now)
      expect(heard).to.deep.equal([
        'BeforeSoftRemove a',
        'AfterSoftRemove a',
        'BeforeSoftRemove b',
        'AfterSoftRemove b',
      ])
    })

    it('never moves an update time back if the clock jumps', async () => {
      await project('p')
      await milestone('m', 'p')
      const made = await job('a', { milestoneId: 'm' })
      const before = familyClock.now
      const updateTime = async () => {
        const { items } = await inAcme(() => of().jobs.list({ showDeleted: true }))
        return items.find(({ id }) => id === 'a')?.updateTime
      }
      familyClock.now = new Date(before.getTime() - 86_400_000)
      try {
        await inAcme(() => of().projects.delete('p'))
        expect(await updateTime()).to.deep.equal(made.updateTime)
        await inAcme(() => of().projects.undelete('p'))
        expect(await updateTime()).to.deep.equal(made.updateTime)
      } finally {
        familyClock.now = before
      }
    })

    it('deletes restricting rows by force, on every level', async () => {
      await project('p')
      await job('a', { projectId: 'p' })
      await remark('r', 'a')
      await inAcme(() => of().projects.delete('p', { force: true }))
      expect(await rows('live')).to.deep.equal([])
    })

    it('deletes a row once if two paths lead to it or it refers to itself', async () => {
      await project('p')
      await milestone('m', 'p')
      await job('a', { projectId: 'p', milestoneId: 'm' })
      await inAcme(() => of().jobs.update('a', { aboveId: 'a' }, ['above_id']))
      await inAcme(() => of().projects.delete('p'))
      expect(await rows('live')).to.deep.equal([])
      expect(heard).to.deep.equal(['BeforeSoftRemove a', 'AfterSoftRemove a'])
      await inAcme(() => of().projects.undelete('p'))
      expect(await rows('deleted')).to.deep.equal([])
    })

    it('ends in a ring', async () => {
      await job('a')
      await job('b', { aboveId: 'a' })
      await inAcme(() => of().jobs.update('a', { aboveId: 'b' }, ['above_id']))
      await inAcme(() => of().jobs.delete('a'))
      expect(await rows('live')).to.deep.equal([])
      await inAcme(() => of().jobs.undelete('a'))
      expect(await rows('deleted')).to.deep.equal([])
    })

    it('frees unique values', async () => {
      await project('p')
      await job('a', { projectId: 'p', code: 'same' })
      await inAcme(() => of().projects.delete('p'))
      await job('b', { code: 'same' })
    })

    it('leaves the rows of another tenant under the same keys', async () => {
      await project('p')
      await milestone('m', 'p')
      await as('globex', async () => {
        await of().projects.create({ id: 'p' })
        await of().milestones.create({ id: 'm', projectId: 'p' })
        await of().milestones.create({ id: 'n', projectId: 'p' })
      })
      await inAcme(() => of().projects.delete('p'))
      expect(await rows('live', 'globex')).to.deep.equal(['milestone m', 'milestone n', 'project p'])
      await inAcme(() => of().projects.undelete('p'))
      expect(await rows('live')).to.deep.equal(['milestone m', 'project p'])
    })

    it('writes at most 1,000 rows, or the given maximum', async () => {
      await project('p')
      await inAcme(() =>
        of().milestones.transaction(async () => {
          for (let i = 0; i < 1000; i++) await of().milestones.create({ id: `m${i}`, projectId: 'p' })
        }),
      )
      const error = await rejection(
        inAcme(() => of().projects.delete('p')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        [
          'TOO_MANY_ROWS',
          'project',
          'it and the resources deleted with it are more than 1000, the maximum that one call deletes (maxRows)',
        ],
      ])
      expect(await rows('deleted')).to.deep.equal([])
      await inAcme(() => of().milestones.delete('m0'))
      await inAcme(() => of().projects.delete('p'))
      expect(await rows('live')).to.deep.equal([])
      await rejection(
        inAcme(() => of().projects.undelete('p', { maxRows: 999 })),
        ErrPreconditionFailed,
      )
      await inAcme(() => of().projects.undelete('p', { maxRows: 1000 }))
      expect(await rows('deleted')).to.deep.equal(['milestone m0'])
      await inAcme(() => of().milestones.undelete('m0'))
      await inAcme(() => of().projects.delete('p', { maxRows: 1001 }))
    })

    it('is rolled back with its transaction', async () => {
      await project('p')
      await milestone('m', 'p')
      const before = await inAcme(() => of().milestones.get('m'))
      await rejection(
        inAcme(() =>
          of().projects.transaction(async () => {
            await of().projects.delete('p')
            expect(await rows('live')).to.deep.equal([])
            throw new RangeError('taken back')
          }),
        ),
        RangeError,
      )
      expect(await inAcme(() => of().milestones.get('m'))).to.deep.equal(before)
    })

    it('leaves the transaction usable after a rejected delete', async () => {
      await job('a')
      await remark('r', 'a')
      await inAcme(() =>
        of().jobs.transaction(async () => {
          await rejection(of().jobs.delete('a'), ErrPreconditionFailed)
          await of().remarks.delete('r')
          await of().jobs.delete('a')
        }),
      )
      expect(await rows('live')).to.deep.equal([])
    })

    it('is rolled back if the hook of a child fails', async () => {
      await project('p')
      await job('a', { projectId: 'p' })
      await job('b', { projectId: 'p' })
      onHook.run = (event, id) => {
        if (event === 'AfterSoftRemove' && id === 'b') throw new RangeError('not this one')
      }
      await inAcme(() => of().projects.delete('p')).catch(() => {})
      expect(await rows('deleted')).to.deep.equal([])
    })

    it('deletes a child that a hook creates', async () => {
      await job('a')
      await job('b', { aboveId: 'a' })
      onHook.run = async (event, id) => {
        if (event === 'BeforeSoftRemove' && id === 'b') await of().remarks.create({ id: 'late', jobId: 'b' })
      }
      await rejection(
        inAcme(() => of().jobs.delete('a')),
        ErrPreconditionFailed,
      )
      expect(await rows('live')).to.deep.equal(['job a', 'job b'])
    })
  })

  describe('set null', () => {
    it('unsets the reference in more rows than one call may delete', async () => {
      await project('p')
      await inAcme(() =>
        of().bookmarks.transaction(async () => {
          for (let i = 0; i < 1001; i++) await of().bookmarks.create({ id: `b${i}`, projectId: 'p' })
        }),
      )
      await inAcme(() => of().projects.delete('p'))
      expect(heard).to.have.length(1001)
      const options = { where: filter`project_id = ${'p'}` }
      expect(await inAcme(() => of().bookmarks.count({}, options))).to.equal(0)
    })

    it('unsets the reference in live rows, writes a new etag and calls their hooks', async () => {
      await project('p')
      await project('q')
      const [kept] = await inAcme(async () => [
        await of().bookmarks.create({ id: 'k', projectId: 'p' }),
        await of().bookmarks.create({ id: 'other', projectId: 'q' }),
        await of().bookmarks.create({ id: 'gone', projectId: 'p' }),
        await of().bookmarks.delete('gone'),
      ])
      await inAcme(() => of().projects.delete('p'))
      const bookmark = await inAcme(() => of().bookmarks.get('k'))
      expect(bookmark.projectId).to.equal(undefined)
      expect(bookmark.etag).to.not.equal((kept as { etag: string }).etag)
      expect((await inAcme(() => of().bookmarks.get('other'))).projectId).to.equal('q')
      expect(heard).to.deep.equal(['BeforeUpdate k'])
      await rejection(
        inAcme(() => of().bookmarks.undelete('gone')),
        ErrPreconditionFailed,
      )
      await inAcme(() => of().projects.undelete('p'))
      expect((await inAcme(() => of().bookmarks.get('k'))).projectId).to.equal(undefined)
      expect((await inAcme(() => of().bookmarks.undelete('gone'))).projectId).to.equal('p')
    })
  })
}
