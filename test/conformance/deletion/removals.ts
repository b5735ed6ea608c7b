import { expect } from 'chai'
import { ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { rejection } from '../../support/rejection.js'
import { heard } from '../../support/entities/family.js'
import { familyCases, type FamilyHolder, inAcme } from './family-subject.js'
import { toldOf } from './refusals.js'

/** What goes with an entity that is gone at once. */
export const removals = (holder: FamilyHolder): void => {
  const { of, rows } = familyCases(holder)
  const crate = (id: string, aroundId?: string) =>
    inAcme(() => of().crates.create({ id, ...(aroundId === undefined ? {} : { aroundId }) }))
  const bottle = (id: string, crateId: string) => inAcme(() => of().bottles.create({ id, crateId }))
  const sticker = (id: string, crateId: string) => inAcme(() => of().stickers.create({ id, crateId }))

  describe('hard delete', () => {
    it('removes what cascades, deleted rows too, children first', async () => {
      await crate('a')
      await crate('b', 'a')
      await crate('c', 'b')
      await bottle('x', 'c')
      await bottle('y', 'a')
      await inAcme(() => of().bottles.delete('y'))
      await inAcme(() => of().crates.delete('a'))
      expect(await rows('live')).to.deep.equal([])
      expect(await rows('deleted')).to.deep.equal([])
      expect(heard).to.deep.equal(['BeforeRemove c', 'BeforeRemove b', 'BeforeRemove a'])
    })

    it('is refused while a row refers to it that stays, deleted ones too', async () => {
      await crate('a')
      await sticker('s', 'a')
      await inAcme(() => of().stickers.delete('s'))
      const error = await rejection(
        inAcme(() => of().crates.delete('a')),
        ErrPreconditionFailed,
      )
      expect(toldOf(error)).to.deep.equal([
        [
          'HAS_CHILDREN',
          'sticker',
          '1 resource of the type sticker refers to it: it is deleted already, wait until it is purged',
        ],
      ])
      await inAcme(() => of().crates.delete('a', { force: true }))
      expect([...(await rows('live')), ...(await rows('deleted'))]).to.deep.equal([])
    })

    it('says that rows which can be undeleted must be purged first', async () => {
      await crate('a')
      const told = async () => {
        const error = await rejection(
          inAcme(() => of().crates.delete('a')),
          ErrPreconditionFailed,
        )
        return toldOf(error)[0]?.[2]
      }
      await sticker('s', 'a')
      await sticker('t', 'a')
      const them = '2 resources of the type sticker refer to it: '
      expect(await told()).to.equal(`${them}delete them, and wait until they are purged`)
      await inAcme(() => of().stickers.delete('s'))
      expect(await told()).to.equal(`${them}delete the 1 not deleted yet, and wait until all are purged`)
      await inAcme(() => of().stickers.delete('t'))
      expect(await told()).to.equal(`${them}they are deleted already, wait until they are purged`)
    })

    it('removes a ring', async () => {
      await crate('a')
      await crate('b', 'a')
      await crate('c', 'b')
      const { etag } = await inAcme(() => of().crates.update('a', { aroundId: 'c' }, ['around_id']))
      await rejection(
        inAcme(() => of().crates.delete('a', { ifMatch: 'x' })),
        ErrPreconditionFailed,
      )
      expect(await rows('live')).to.deep.equal(['crate a', 'crate b', 'crate c'])
      await inAcme(() => of().crates.delete('a', { ifMatch: etag }))
      expect(await rows('live')).to.deep.equal([])
    })

    it('removes a row that refers to itself, and batches whose rows refer to one another', async () => {
      await crate('a')
      await inAcme(() => of().crates.update('a', { aroundId: 'a' }, ['around_id']))
      await crate('b', 'a')
      await crate('c', 'b')
      await bottle('x', 'b')
      await inAcme(() => of().crates.batchDelete(['a', 'b', 'c']))
      expect(await rows('live')).to.deep.equal([])
      await rejection(
        inAcme(() => of().crates.delete('a')),
        ErrNotFound,
      )
    })
  })
}
