import { expect } from 'chai'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { RequestContext } from '../../../lib/context.js'
import { rejection } from '../../support/rejection.js'
import { heard } from '../../support/entities/family.js'
import { as, familyCases, type FamilyHolder, inAcme } from './family-subject.js'
import { toldOf } from './refusals.js'

/** What comes back with an entity. */
export const undeletes = (holder: FamilyHolder): void => {
  const { of, rows, project, job, remark, milestone } = familyCases(holder)

  describe('undelete', () => {
    it('restores exactly the rows that were deleted together, three levels deep', async () => {
      await project('p')
      await milestone('m', 'p')
      await milestone('before', 'p')
      await job('a', { milestoneId: 'm' })
      await job('b', { aboveId: 'a' })
      await job('early', { aboveId: 'a' })
      await remark('r', 'b')
      await remark('old', 'b')
      await inAcme(async () => {
        await of().milestones.delete('before')
        await of().jobs.delete('early')
        await of().remarks.delete('old')
        await of().projects.delete('p', { force: true })
      })
      expect(await rows('live')).to.deep.equal([])
      heard.length = 0
      const before = (await inAcme(() => of().jobs.list({ showDeleted: true }))).items
      const restored = await inAcme(() => of().projects.undelete('p'))
      expect(restored.deleteTime).to.equal(undefined)
      expect(await rows('live')).to.deep.equal(['job a', 'job b', 'milestone m', 'project p', 'remark r'])
      expect(await rows('deleted')).to.deep.equal(['job early', 'milestone before', 'remark old'])
      expect(heard).to.deep.equal(['BeforeRecover a', 'AfterRecover a', 'BeforeRecover b', 'AfterRecover b'])
      const a = await inAcme(() => of().jobs.get('a'))
      expect(a.etag).to.not.equal(before.find(({ id }) => id === 'a')?.etag)
    })

    it('restores no row of an earlier deletion of the same entity', async () => {
      await project('p')
      await milestone('m1', 'p')
      await milestone('m2', 'p')
      await inAcme(async () => {
        await of().projects.delete('p')
        await of().projects.undelete('p')
        await of().milestones.delete('m1')
        await of().projects.delete('p')
        await of().projects.undelete('p')
      })
      expect(await rows('deleted')).to.deep.equal(['milestone m1'])
      await inAcme(() => of().milestones.undelete('m1'))
      expect(await rows('deleted')).to.deep.equal([])
    })

    it('restores each root of a batch independently', async () => {
      await job('a')
      await job('a1', { aboveId: 'a' })
      await job('b')
      await job('b1', { aboveId: 'b' })
      await inAcme(() => of().jobs.batchDelete(['a', 'b']))
      await inAcme(() => of().jobs.undelete('b'))
      expect(await rows('live')).to.deep.equal(['job b', 'job b1'])
    })

    it('keeps a child that was named in the batch beside its parent', async () => {
      await job('a')
      await job('b', { aboveId: 'a' })
      await inAcme(() => of().jobs.batchDelete(['a', 'b']))
      expect(heard.filter((event) => event.startsWith('Before'))).to.have.length(2)
      await inAcme(() => of().jobs.undelete('a'))
      expect(await rows('live')).to.deep.equal(['job a'])
      await inAcme(() => of().jobs.undelete('b'))
    })

    it('rejects undeleting a child of a deleted parent, and names the parent', async () => {
      await project('p')
      await milestone('m', 'p')
      await milestone('n', 'p')
      await inAcme(async () => {
        await of().milestones.delete('n')
        await of().projects.delete('p')
      })
      for (const id of ['m', 'n']) {
        const error = await rejection(
          inAcme(() => of().milestones.undelete(id)),
          ErrPreconditionFailed,
        )
        expect(toldOf(error)).to.deep.equal([
          ['PARENT_DELETED', 'project', 'it refers to a deleted project: undelete that first'],
        ])
      }
      await rejection(
        as('globex', () => of().milestones.undelete('m')),
        ErrNotFound,
      )
      expect(await rows('live')).to.deep.equal([])
      await inAcme(() => of().projects.undelete('p'))
      await inAcme(() => of().milestones.undelete('n'))
    })

    it('rejects the whole undelete if one of its rows refers to a deleted row', async () => {
      await project('p')
      await milestone('m', 'p')
      await project('q')
      await job('a', { projectId: 'q', milestoneId: 'm' })
      await inAcme(async () => {
        await of().projects.delete('q')
        await of().projects.delete('p')
      })
      await inAcme(() => of().projects.undelete('p'))
      expect(await rows('live')).to.deep.equal(['milestone m', 'project p'])
      await inAcme(async () => {
        await of().projects.undelete('q')
        expect(await rows('deleted')).to.deep.equal([])
        await of().projects.delete('q')
        await of().projects.delete('p')
      })
      const error = await rejection(
        inAcme(() => of().projects.undelete('q')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)[0]?.[2]).to.equal('the job "a" refers to a deleted milestone: undelete that first')
      expect(await rows('live')).to.deep.equal([])
    })

    it('rejects such an undelete for resources without hooks, too', async () => {
      const system = <T>(fn: () => Promise<T>) => RequestContext.asSystem({ reason: 'test' }, fn)
      await system(() => of().countries.create({ id: 'c' }))
      await project('p')
      await inAcme(() => of().milestones.create({ id: 'm', projectId: 'p', countryId: 'c' }))
      await inAcme(() => of().projects.delete('p'))
      await system(() => of().countries.delete('c'))
      const error = await rejection(
        inAcme(() => of().projects.undelete('p')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        ['PARENT_DELETED', 'country', 'the milestone "m" refers to a deleted country: undelete that first'],
      ])
      expect(await rows('live')).to.deep.equal([])
      await system(() => of().countries.undelete('c'))
      await inAcme(() => of().projects.undelete('p'))
      expect(await rows('live')).to.deep.equal(['countrie c', 'milestone m', 'project p'])
    })

    it('names the resource whose unique value is taken, and restores nothing', async () => {
      await project('p')
      await milestone('m', 'p')
      await job('a', { projectId: 'p', code: 'free' })
      await job('b', { projectId: 'p', code: 'taken' })
      await inAcme(() => of().projects.delete('p'))
      await job('c', { code: 'taken' })
      const before = (await inAcme(() => of().jobs.list({ showDeleted: true }))).items
      const error = await rejection(
        inAcme(() => of().projects.undelete('p')),
        ErrConflict,
      )
      expect(toldOf(error as never)).to.deep.equal([
        [
          'UNIQUE_VALUE',
          'job',
          'the job "b" was deleted together with it and cannot be undeleted, because one of its unique values is now in use',
        ],
      ])
      expect((await inAcme(() => of().jobs.list({ showDeleted: true }))).items).to.deep.equal(before)
      expect(await rows('live')).to.deep.equal(['job c'])
      await inAcme(() => of().jobs.delete('c'))
      await inAcme(() => of().projects.undelete('p'))
      expect(await rows('live')).to.deep.equal(['job a', 'job b', 'milestone m', 'project p'])
    })

    it('compares the etag', async () => {
      await project('p')
      await milestone('m', 'p')
      await inAcme(() => of().projects.delete('p'))
      await rejection(
        inAcme(() => of().projects.undelete('p', { ifMatch: 'x' })),
        ErrPreconditionFailed,
      )
      await rejection(
        inAcme(() => of().projects.undelete('nope')),
        ErrNotFound,
      )
      expect(await rows('live')).to.deep.equal([])
    })
  })
}
