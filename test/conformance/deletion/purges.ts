import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { heard } from '../../support/entities/family.js'
import { as, familyCases, type FamilyHolder, inAcme } from './family-subject.js'

const LONG_AGO = new Date('2001-01-01')
const NOW = new Date('2026-01-01')

/** What a purge removes, and what stays. */
export const purges = (holder: FamilyHolder): void => {
  const { of, rows, project, job, remark, milestone } = familyCases(holder)
  const expired = { expireTime: LONG_AGO }
  const left = async () => [...(await rows('live')), ...(await rows('deleted'))]

  describe('purge', () => {
    it('removes what cascades before its parent, live or deleted, and calls no hook', async () => {
      await project('p', expired)
      await milestone('m', 'p')
      await milestone('n', 'p')
      await job('a', { milestoneId: 'm' })
      await job('b', { aboveId: 'a' })
      await project('stays')
      await inAcme(() => of().milestones.delete('n'))
      heard.length = 0
      expect(await inAcme(() => of().projects.purgeExpired(NOW))).to.equal(1)
      expect(await left()).to.deep.equal(['project stays'])
      expect(heard).to.deep.equal([])
    })

    it('leaves a parent that a row refers to, live, deleted or expired', async () => {
      await job('a', expired)
      await remark('r', 'a')
      await job('b', expired)
      await remark('s', 'b', expired)
      await job('c', expired)
      await remark('t', 'c')
      await inAcme(() => of().remarks.delete('t'))
      await job('d', expired)
      expect(await inAcme(() => of().jobs.purgeExpired(NOW))).to.equal(1)
      expect(await rows('live')).to.deep.equal(['job a', 'job b', 'job c', 'remark r', 'remark s'])
      expect(await inAcme(() => of().remarks.purgeExpired(NOW))).to.equal(1)
      expect(await inAcme(() => of().jobs.purgeExpired(NOW))).to.equal(1)
      expect(await left()).to.deep.equal(['job a', 'job c', 'remark r', 'remark t'])
    })

    it('leaves everything of a parent that it leaves', async () => {
      await project('p', expired)
      await milestone('m', 'p')
      await job('a', { milestoneId: 'm' })
      await remark('r', 'a')
      const before = await left()
      expect(await inAcme(() => of().projects.purgeExpired(NOW))).to.equal(0)
      expect(await left()).to.deep.equal(before)
    })

    it('removes what was deleted together with it, whatever the relation', async () => {
      await job('a', expired)
      await remark('r', 'a')
      await inAcme(() => of().jobs.delete('a', { force: true }))
      expect(await inAcme(() => of().jobs.purgeExpired(NOW))).to.equal(1)
      expect(await left()).to.deep.equal([])
    })

    it('takes references out that may be absent', async () => {
      await project('p', expired)
      await inAcme(async () => {
        await of().bookmarks.create({ id: 'k', projectId: 'p' })
        await of().bookmarks.create({ id: 'gone', projectId: 'p' })
        await of().bookmarks.delete('gone')
      })
      expect(await inAcme(() => of().projects.purgeExpired(NOW))).to.equal(1)
      expect(await left()).to.deep.equal(['bookmark k', 'bookmark gone'])
      expect((await inAcme(() => of().bookmarks.get('k'))).projectId).to.equal(undefined)
      expect((await inAcme(() => of().bookmarks.undelete('gone'))).projectId).to.equal(undefined)
    })

    it('removes expired rows that refer to one another', async () => {
      await job('a', expired)
      await job('b', { ...expired, aboveId: 'a' })
      await job('c', { ...expired, aboveId: 'b' })
      expect(await inAcme(() => of().jobs.purgeExpired(NOW))).to.equal(3)
      expect(await left()).to.deep.equal([])
    })

    it('stays in its tenant, and reaches all as the system', async () => {
      for (const tenant of ['acme', 'globex'])
        await as(tenant, async () => {
          await of().projects.create({ id: 'p', ...expired })
          await of().milestones.create({ id: 'm', projectId: 'p' })
        })
      expect(await inAcme(() => of().projects.purgeExpired(NOW))).to.equal(1)
      expect(await rows('live', 'globex')).to.deep.equal(['milestone m', 'project p'])
      const purged = await RequestContext.asSystem({ reason: 'test' }, () => of().projects.purgeExpired(NOW))
      expect(purged).to.equal(1)
      expect(await rows('live', 'globex')).to.deep.equal([])
    })
  })
}
