import { expect } from 'chai'
import { ErrNotFound } from '../../../lib/errors.js'
import { clock, draft, type Holder, inAcme, rejection } from './subject.js'

/** The specification's table of states and transitions. */
export const states = (holder: Holder): void => {
  describe('states', () => {
    it('live + Delete, soft: keeps the row, and List omits it unless ShowDeleted is true', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await specimens.create(draft())
        await specimens.delete(id)
        await rejection(specimens.get(id), ErrNotFound, '^persistence: not found$')
        expect((await specimens.list()).items).to.have.length(0)
        const [deleted] = (await specimens.list({ showDeleted: true })).items
        expect(deleted).to.include({ id })
        expect(deleted?.deleteTime).to.deep.equal(clock.now)
      }))

    it('live + Delete, hard: removes the row, and ShowDeleted has no effect', async () => {
      const { notes } = holder.subject
      await notes.create({ name: 'notes/1', text: 'gone soon' })
      await notes.delete('notes/1')
      await rejection(notes.get('notes/1'), ErrNotFound)
      expect((await notes.list({ showDeleted: true })).items).to.have.length(0)
    })

    it('soft-deleted + Undelete: is live again, and the restored entity is returned', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft({ note: 'kept' }))
        await specimens.delete(created.id)
        const restored = await specimens.undelete(created.id)
        expect(restored).to.include({ id: created.id, note: 'kept', deleteTime: undefined })
        expect(restored.etag).to.not.equal(created.etag)
        expect(await specimens.get(created.id)).to.deep.equal(restored)
      }))

    it('Delete and Undelete: renew the etag each, so that what was read before no longer matches', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft())
        await specimens.delete(created.id)
        const deleted = (await specimens.list({ showDeleted: true })).items.find(
          ({ id }) => id === created.id,
        )
        const restored = await specimens.undelete(created.id)
        const etags = [created.etag, deleted?.etag, restored.etag]
        expect(etags.every((etag) => typeof etag === 'string' && etag !== '')).to.equal(true)
        expect(new Set(etags).size).to.equal(3)
        expect(await specimens.undelete(created.id).catch((error: Error) => error)).to.be.instanceOf(
          ErrNotFound,
        )
      }))

    it('live + Undelete: returns ErrNotFound and changes nothing', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft())
        await rejection(specimens.undelete(created.id), ErrNotFound)
        const { apiKey: _, ...stored } = created
        expect(await specimens.get(created.id)).to.deep.include(stored)
      }))

    it('purged + Undelete: returns ErrNotFound', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await specimens.create(draft({ expireTime: new Date(clock.now) }))
        await specimens.delete(id)
        expect(await specimens.purgeExpired(clock.now)).to.equal(1)
        await rejection(specimens.undelete(id), ErrNotFound)
      }))

    it('a resource without soft-delete + Undelete: returns ErrNotFound', async () => {
      const { notes } = holder.subject
      await notes.create({ name: 'notes/1' })
      await rejection(notes.undelete('notes/1'), ErrNotFound)
      expect((await notes.get('notes/1')).name).to.equal('notes/1')
    })

    it('soft-deleted: is missing to Get, Update, Delete, BatchGet, BatchUpdate and BatchDelete', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const { id } = await specimens.create(draft())
        await specimens.delete(id)
        await rejection(specimens.get(id), ErrNotFound)
        await rejection(specimens.update(id, { title: 'x' }, ['title']), ErrNotFound)
        await rejection(specimens.delete(id), ErrNotFound)
        await rejection(specimens.batchGet([id]), ErrNotFound)
        await rejection(
          specimens.batchUpdate([{ key: id, entity: { title: 'x' }, fieldMask: ['title'] }]),
          ErrNotFound,
        )
        await rejection(specimens.batchDelete([id]), ErrNotFound)
      }))

    it('PurgeExpired: removes and counts rows that expired by the given time, soft-deleted or not', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const at = (ms: number) => new Date(clock.now.getTime() + ms)
        await specimens.create(draft({ id: 'before', expireTime: at(-1) }))
        await specimens.create(draft({ id: 'exactly', expireTime: at(0) }))
        await specimens.create(draft({ id: 'after', expireTime: at(1) }))
        await specimens.create(draft({ id: 'deleted', expireTime: at(-1) }))
        await specimens.delete('deleted')
        expect(await specimens.purgeExpired(clock.now)).to.equal(3)
        expect((await specimens.list({ showDeleted: true })).items.map(({ id }) => id)).to.deep.equal([
          'after',
        ])
      }))

    it('PurgeExpired of a resource without expire_time: removes nothing', async () => {
      const { notes } = holder.subject
      await notes.create({ name: 'notes/1' })
      expect(await notes.purgeExpired(new Date(8.64e15))).to.equal(0)
    })
  })
}
