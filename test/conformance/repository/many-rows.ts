import { expect } from 'chai'
import { AshlarError, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { increment } from '../../../lib/resource/values/increment.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { asTenant, draft, type Holder, inAcme, rejection } from './subject.js'

/** `updateMany` and `deleteMany`: the rows that a filter names. */
export const manyRows = (holder: Holder): void => {
  const make = async (title: string, ...ids: string[]) => {
    for (const id of ids) await holder.subject.specimens.create(draft({ id, title }))
  }
  const counts = async () =>
    (await holder.subject.specimens.list({ orderBy: 'id' })).items.map(({ id, count }) => `${id} ${count}`)

  describe('updateMany', () => {
    it('writes the rows that the filter names, and no row of another tenant', async () => {
      const { specimens } = holder.subject
      await asTenant('globex', () => make('old', 'a'))
      await inAcme(async () => {
        await make('old', 'a', 'b')
        await make('new', 'c')
        const [before] = (await specimens.list({ orderBy: 'id' })).items
        expect(await specimens.updateMany(filter`title = "old"`, { count: 7, title: 'done' })).to.equal(2)
        expect(await counts()).to.deep.equal(['a 7', 'b 7', 'c 0'])
        const after = await specimens.get('a')
        expect(after.title).to.equal('done')
        expect(after.etag).to.not.equal(before?.etag)
        expect(await specimens.updateMany(filter`title = "old"`, { count: 8 })).to.equal(0)
      })
      expect((await asTenant('globex', () => specimens.get('a'))).count).to.equal(0)
    })

    it('leaves out rows that `where` excludes, and deleted ones', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('mine', 'a', 'gone')
        await make('theirs', 'b')
        await specimens.delete('gone')
        const mine = { where: filter`title = "mine"` }
        expect(await specimens.updateMany(filter`count = 0`, { count: 1 }, mine)).to.equal(1)
        expect(await counts()).to.deep.equal(['a 1', 'b 0'])
        expect((await specimens.undelete('gone')).count).to.equal(0)
      }))

    it('names properties without a field, and writes them', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a', 'b')
        await specimens.update('a', { bin: 'x' } as Partial<Specimen>, ['bin'] as never, { outputOnly: true })
        const written = await specimens.updateMany(filter`bin = "x"`, { bin: 'y' }, { outputOnly: true })
        expect(written).to.equal(1)
        expect((await specimens.get('a')).bin).to.equal('y')
      }))

    it('adds an increment to each row', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a', 'b')
        await specimens.update('a', { count: 3 }, ['count'])
        expect(await specimens.updateMany(filter`title = "old"`, { count: increment(2) })).to.equal(2)
        expect(await counts()).to.deep.equal(['a 5', 'b 2'])
      }))

    it('protects a secret for each row', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a', 'b')
        await specimens.updateMany(filter`title = "old"`, { webhookSecret: 'hush' as never })
        expect(await specimens.revealWebhookSecret('a')).to.equal('hush')
        expect(await specimens.revealWebhookSecret('b')).to.equal('hush')
      }))

    it('writes nothing if the filter names more rows than the limit', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a', 'b', 'c')
        const many = () => specimens.updateMany(filter`title = "old"`, { count: 1 }, { limit: 2 })
        await rejection(many(), ErrPreconditionFailed)
        expect(await counts()).to.deep.equal(['a 0', 'b 0', 'c 0'])
        await specimens.delete('c')
        expect(await many()).to.equal(2)
      }))

    it('is rolled back with the transaction around it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a')
        const failed = specimens.transaction(async () => {
          await specimens.updateMany(filter`title = "old"`, { count: 1 })
          throw new AshlarError('ABORTED', 'no')
        })
        await rejection(failed, AshlarError)
        expect(await counts()).to.deep.equal(['a 0'])
      }))

    it('rejects values, properties, filters and limits that are wrong', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a')
        const all = filter`title = "old"`
        await rejection(specimens.updateMany(all, { title: 'x'.repeat(101) }), InvalidArgument)
        await rejection(specimens.updateMany(all, {}), TypeError)
        await rejection(specimens.updateMany(all, { id: 'b' }), TypeError)
        await rejection(specimens.updateMany(all, { nothing: 1 } as never), TypeError)
        await rejection(specimens.updateMany(' ' as never, { count: 1 }), TypeError)
        await rejection(specimens.updateMany(filter`nothing = 1`, { count: 1 }), TypeError)
        for (const limit of [0, -1, 1.5, NaN])
          await rejection(specimens.updateMany(all, { count: 1 }, { limit }), TypeError)
        expect(await counts()).to.deep.equal(['a 0'])
      }))

    it('writes rows of a resource without a tenant, an etag or an update time', () =>
      inAcme(async () => {
        const { notes } = holder.subject
        for (const name of ['a', 'b']) await notes.create({ name, text: 'x', stars: 1 })
        expect(await notes.updateMany(filter`stars = 1`, { stars: 1 })).to.equal(2)
        expect(await notes.updateMany(filter`name = "b"`, { stars: 5 })).to.equal(1)
        expect((await notes.get('b')).stars).to.equal(5)
        expect(await notes.deleteMany(filter`stars = 5`)).to.equal(1)
        expect((await notes.list()).items.map(({ name }) => name)).to.deep.equal(['a'])
      }))
  })

  describe('deleteMany', () => {
    it('deletes the rows that the filter names, and no row of another tenant', async () => {
      const { specimens } = holder.subject
      await asTenant('globex', () => make('old', 'a'))
      await inAcme(async () => {
        await make('old', 'a', 'b')
        await make('new', 'c')
        expect(await specimens.deleteMany(filter`title = "old"`)).to.equal(2)
        expect(await counts()).to.deep.equal(['c 0'])
        expect(await specimens.deleteMany(filter`title = "old"`)).to.equal(0)
        const deleted = await specimens.undelete('a')
        expect(deleted.deleteTime).to.equal(undefined)
        await specimens.deleteMany(filter`id = "a"`, { where: filter`title = "new"` })
        expect(await counts()).to.deep.equal(['a 0', 'c 0'])
      })
      expect((await asTenant('globex', () => specimens.get('a'))).id).to.equal('a')
    })

    it('frees unique values', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.create(draft({ id: 'a', code: 'one' }))
        await specimens.deleteMany(filter`code = "one"`)
        await specimens.create(draft({ id: 'b', code: 'one' }))
        expect(await specimens.deleteMany(filter`code = "one"`)).to.equal(1)
      }))

    it('deletes nothing if the filter names more rows than the limit', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('old', 'a', 'b', 'c')
        await rejection(specimens.deleteMany(filter`title = "old"`, { limit: 2 }), ErrPreconditionFailed)
        expect(await counts()).to.deep.equal(['a 0', 'b 0', 'c 0'])
      }))
  })
}
