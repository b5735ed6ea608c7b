import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { RelatedAccess, RowLimits } from '../../../lib/persistence/contract/repository.js'
import { rejection } from '../../support/rejection.js'
import { heard } from '../../support/entities/family.js'
import { as, familyCases, type FamilyHolder, inAcme } from './family-subject.js'

/** Why an entity stays, and what its caller is told. */
export const refusals = (holder: FamilyHolder): void => {
  const { of, rows, project, job, remark, milestone } = familyCases(holder)

  describe('restrict', () => {
    it('rejects the delete while there are live children, counts them, and changes nothing', async () => {
      await job('a')
      await job('b')
      for (const id of ['r1', 'r2', 'r3']) await remark(id, 'a')
      const before = await inAcme(() => of().jobs.get('a'))
      const error = await rejection(
        inAcme(() => of().jobs.delete('a')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        ['HAS_CHILDREN', 'remark', '3 resources of the type remark refer to it: delete them first'],
      ])
      expect(await inAcme(() => of().jobs.get('a'))).to.deep.equal(before)
      expect(heard).to.deep.equal([])
      await inAcme(() => of().jobs.delete('b'))
      expect(await rows('live')).to.deep.equal(['job a', 'remark r1', 'remark r2', 'remark r3'])
    })

    it('uses the singular for one child, and names force to callers that can set it', async () => {
      await job('a')
      await remark('r1', 'a')
      for (const [options, more] of [
        [{}, ''],
        [{ force: false }, ', or use force'],
      ] as const) {
        const error = await rejection(
          inAcme(() => of().jobs.delete('a', options)),
          ErrPreconditionFailed,
        )
        expect(toldOf(error)[0]?.[2]).to.equal(
          `1 resource of the type remark refers to it: delete it first${more}`,
        )
      }
    })

    it('counts neither deleted children nor those of another tenant under the same key', async () => {
      await job('a')
      await remark('r1', 'a')
      await inAcme(() => of().remarks.delete('r1'))
      await as('globex', async () => {
        await of().jobs.create({ id: 'a', code: 'x' })
        await of().remarks.create({ id: 'r2', jobId: 'a' })
      })
      await inAcme(() => of().jobs.delete('a'))
      expect(await rows('live', 'globex')).to.deep.equal(['job a', 'remark r2'])
      await rejection(
        as('globex', () => of().jobs.delete('a')),
        ErrPreconditionFailed,
      )
    })

    it('counts an expired child that is not purged yet', async () => {
      await job('a')
      await remark('r1', 'a', { expireTime: new Date('2001-01-01') })
      await rejection(
        inAcme(() => of().jobs.delete('a')),
        ErrPreconditionFailed,
      )
    })

    it('rejects a cascade that reaches a restricting row, and deletes nothing', async () => {
      await project('p')
      await job('a', { projectId: 'p' })
      await remark('r1', 'a')
      const error = await rejection(
        inAcme(() => of().projects.delete('p')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error).map(([, type]) => type)).to.deep.equal(['remark'])
      expect(await rows('deleted')).to.deep.equal([])
      expect(heard).to.deep.equal([])
    })

    it('reports every type of child at once', async () => {
      await project('p')
      await job('a', { projectId: 'p' })
      await remark('r1', 'a')
      await inAcme(() => of().invoices.create({ id: 'i', projectId: 'p' }))
      const error = await rejection(
        inAcme(() => of().projects.delete('p')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error).map(([, type, text]) => [type, text?.slice(0, 10)])).to.deep.equal([
        ['invoice', '1 resource'],
        ['remark', '1 resource'],
      ])
    })

    it('never deletes a child that cannot be undeleted, even by force', async () => {
      await project('p')
      await inAcme(() => of().invoices.create({ id: 'i', projectId: 'p' }))
      const error = await rejection(
        inAcme(() => of().projects.delete('p', { force: true })),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        ['HAS_CHILDREN', 'invoice', '1 resource of the type invoice refers to it: delete it first'],
      ])
    })

    it('does not count exactly beyond a thousand', async () => {
      await job('a')
      await inAcme(() =>
        of().remarks.transaction(async () => {
          for (let i = 0; i < 1002; i++) await of().remarks.create({ id: `r${i}`, jobId: 'a' })
        }),
      )
      const error = await rejection(
        inAcme(() => of().jobs.delete('a')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)[0]?.[2]).to.match(/^more than 1000 resources of the type remark/)
    })

    it('compares the etag, and finds the entity, before anything else', async () => {
      await job('a')
      await remark('r1', 'a')
      await rejection(
        inAcme(() => of().jobs.delete('nope', { force: true })),
        ErrNotFound,
      )
      await rejection(
        as('globex', () => of().jobs.delete('a', { force: true })),
        ErrNotFound,
      )
      const where = filter`id = ${'b'}`
      await rejection(
        inAcme(() => of().jobs.delete('a', { force: true, where })),
        ErrNotFound,
      )
      const error = await rejection(
        inAcme(() => of().jobs.delete('a', { force: true, ifMatch: 'other' })),
        ErrPreconditionFailed,
      )
      expect(toldOf(error).map(([type]) => type)).to.deep.equal(['ETAG'])
      expect(await rows('deleted')).to.deep.equal([])
      const { etag } = await inAcme(() => of().jobs.get('a'))
      await inAcme(() => of().jobs.delete('a', { force: true, ifMatch: etag }))
      expect(await rows('deleted')).to.deep.equal(['job a', 'remark r1'])
    })

    it('rejects a batch as a whole', async () => {
      await job('a')
      await job('b')
      await remark('r1', 'b')
      await rejection(
        inAcme(() => of().jobs.batchDelete(['a', 'b'])),
        ErrPreconditionFailed,
      )
      expect(await rows('deleted')).to.deep.equal([])
      await inAcme(() => of().jobs.batchDelete(['a', 'b'], { force: true }))
      expect(await rows('deleted')).to.deep.equal(['job a', 'job b', 'remark r1'])
    })
  })

  describe('a parent that belongs to nobody', () => {
    beforeEach(async () => {
      await RequestContext.asSystem({ reason: 'test' }, () => of().countries.create({ id: 'c' }))
    })

    it('is kept by children of every tenant, without reporting their number', async () => {
      await project('p', { countryId: 'c' })
      await as('globex', () => of().projects.create({ id: 'q', countryId: 'c' }))
      const error = await rejection(
        inAcme(() => of().countries.delete('c')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)[0]?.[2]).to.match(/^resources of the type project refer to it/)
    })

    it('deletes rows of another tenant only for the system', async () => {
      await as('globex', () => of().projects.create({ id: 'q', countryId: 'c' }))
      const error = await rejection(
        inAcme(() => of().countries.delete('c', { force: true })),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)[0]?.[2]).to.equal('resources of the type project refer to it: delete them first')
      expect(await rows('live', 'globex')).to.deep.equal(['countrie c', 'project q'])
      await RequestContext.asSystem({ reason: 'test' }, () => of().countries.delete('c', { force: true }))
      expect(await rows('deleted', 'globex')).to.deep.equal(['countrie c', 'project q'])
    })
  })

  describe('what the caller may do with children', () => {
    const all: RowLimits = { isNone: false }
    const none: RowLimits = { isNone: true }
    const access = (change: RowLimits, list: RowLimits = all): { related: RelatedAccess } => ({
      related: { change: () => change, list: () => list },
    })

    beforeEach(async () => {
      await project('p')
      await milestone('m1', 'p')
      await milestone('m2', 'p')
    })

    it('deletes no child that the caller may not delete', async () => {
      const error = await rejection(
        inAcme(() => of().projects.delete('p', access(none))),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        ['HAS_CHILDREN', 'milestone', '2 resources of the type milestone refer to it: delete them first'],
      ])
      expect(await rows('deleted')).to.deep.equal([])
    })

    it('rejects the delete if the caller may not reach one of the children', async () => {
      for (const change of [
        { isNone: false, where: filter`id = ${'m1'}` },
        { isNone: false, test: (entity: object) => (entity as { id: string }).id === 'm1' },
      ]) {
        await rejection(
          inAcme(() => of().projects.delete('p', access(change))),
          ErrPreconditionFailed,
        )
        expect(await rows('deleted')).to.deep.equal([])
      }
      const both = { isNone: false, where: filter`id = ${'m1'} OR id = ${'m2'}` }
      await inAcme(() => of().projects.delete('p', access(both)))
      expect(await rows('live')).to.deep.equal([])
    })

    it('counts only children that the caller may list', async () => {
      const told = async (list: RowLimits) =>
        toldOf(
          await rejection(
            inAcme(() => of().projects.delete('p', access(none, list))),
            ErrPreconditionFailed,
          ),
        )[0]?.[2]
      expect(await told(none)).to.equal('resources of the type milestone refer to it: delete them first')
      expect(await told({ isNone: false, where: filter`id = ${'m1'}` })).to.match(/^1 resource of/)
      expect(await told({ isNone: false, where: filter`id = ${'x'}` })).to.match(/^resources of/)
      expect(await told({ isNone: false, test: () => true })).to.match(/^resources of/)
    })

    it('applies the same rules to an undelete', async () => {
      await inAcme(() => of().projects.delete('p'))
      for (const change of [none, { isNone: false, where: filter`id = ${'m1'}` }])
        await rejection(
          inAcme(() => of().projects.undelete('p', access(change))),
          ErrPreconditionFailed,
        )
      expect(await rows('live')).to.deep.equal([])
      await inAcme(() => of().projects.undelete('p', access(all)))
      expect(await rows('deleted')).to.deep.equal([])
    })
  })
}

/** What the caller is told. */
export const toldOf = ({ details }: ErrPreconditionFailed): (readonly [string, string, string])[] =>
  details.flatMap((detail) =>
    detail.kind === 'preconditionFailure' ? [[detail.type, detail.subject, detail.description] as const] : [],
  )
