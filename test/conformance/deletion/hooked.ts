import { expect } from 'chai'
import { ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { onHook } from '../../support/entities/family.js'
import { rejection } from '../../support/rejection.js'
import { as, familyCases, type FamilyHolder, inAcme } from './family-subject.js'
import { orphansIn } from './orphans-in.js'

const LONG_AGO = new Date('2001-01-01')
const NOW = new Date('2026-01-01')

/** What hooks of rows that go along write is held to what every write is held to. */
export const hooked = (holder: FamilyHolder): void => {
  const { of, states, project, milestone, job } = familyCases(holder)

  const refused = async <E extends Error>(
    operation: () => Promise<unknown>,
    type: new (...operands: never[]) => E,
  ): Promise<E> => {
    const before = await states()
    const error = await rejection(inAcme(operation), type)
    expect(await states()).to.deep.equal(before)
    expect(await orphansIn(of())).to.deep.equal([])
    return error
  }
  /** What a hook of one event writes into the entity. */
  const writing = (event: string, values: object) => {
    onHook.run = (now, _id, entity) => (now === event ? void Object.assign(entity, values) : undefined)
  }

  describe('hooks of what goes along', () => {
    const targets = async () => {
      await as('globex', () => of().projects.create({ id: 'theirs' }))
      await project('gone')
      await inAcme(() => of().projects.delete('gone'))
      return ['nosuch', 'theirs', 'gone']
    }

    it('rejects a reference to a missing, deleted or foreign row when a row cascades', async () => {
      await project('p')
      await milestone('m', 'p')
      await job('a', { milestoneId: 'm' })
      for (const projectId of await targets()) {
        writing('BeforeSoftRemove', { projectId })
        const error = await refused(() => of().projects.delete('p'), InvalidArgument)
        expect(error.field, projectId).to.equal('project_id')
      }
    })

    it('rejects such a reference when a reference is unset', async () => {
      await project('p')
      await inAcme(() => of().bookmarks.create({ id: 'k', projectId: 'p' }))
      for (const projectId of [...(await targets()), 'p']) {
        writing('BeforeUpdate', { projectId })
        const error = await refused(() => of().projects.delete('p'), InvalidArgument)
        expect(error.field, projectId).to.equal('project_id')
      }
      await project('other')
      writing('BeforeUpdate', { projectId: 'other' })
      await inAcme(() => of().projects.delete('p'))
      expect(await inAcme(() => of().bookmarks.get('k'))).to.include({ projectId: 'other' })
    })

    it('rejects such a reference when a row is undeleted, alone or with others', async () => {
      await project('p')
      await milestone('m', 'p')
      await job('a', { milestoneId: 'm' })
      await job('alone')
      const missing = await targets()
      await inAcme(() => of().projects.delete('p'))
      await inAcme(() => of().jobs.delete('alone'))
      for (const projectId of missing) {
        writing('BeforeRecover', { projectId })
        for (const operation of [() => of().projects.undelete('p'), () => of().jobs.undelete('alone')])
          expect((await refused(operation, InvalidArgument)).field, projectId).to.equal('project_id')
      }
      onHook.run = undefined
      await inAcme(() => of().projects.undelete('p'))
      expect(await orphansIn(of())).to.deep.equal([])
    })

    it('rejects deleting the target of a row that is undeleted', async () => {
      await project('p')
      await milestone('m', 'p')
      await job('a', { milestoneId: 'm' })
      await inAcme(() => of().jobs.delete('a'))
      onHook.run = (event) => (event === 'BeforeRecover' ? of().milestones.delete('m') : undefined)
      await refused(() => of().jobs.undelete('a'), ErrPreconditionFailed)
    })

    it('rejects restoring a reference to a row that is purged', async () => {
      await project('p', { expireTime: LONG_AGO })
      await inAcme(() => of().bookmarks.create({ id: 'k', projectId: 'p' }))
      writing('BeforeUpdate', { projectId: 'p' })
      await refused(() => of().projects.purgeExpired(NOW), ErrPreconditionFailed)
    })

    it('rejects creating a row that refers to a removed row', async () => {
      await inAcme(() => of().crates.create({ id: 'x' }))
      onHook.run = (event, id) =>
        event === 'BeforeRemove' ? of().stickers.create({ id: 's', crateId: id }) : undefined
      await refused(() => of().crates.delete('x'), ErrPreconditionFailed)
    })
  })
}
