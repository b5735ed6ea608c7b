import { expect } from 'chai'
import { TooManyBytes } from '../../../../lib/persistence/bytes/too-many-bytes.js'
import type { ListOptions } from '../../../../lib/persistence/contract/repository.js'
import { draft, type Holder, inAcme, rejection, subjectOptions } from '../subject.js'

/** Pages and batches that end by the bytes of their rows. */
export const pageBytes = (holder: Holder): void => {
  const LARGE = 'é'.repeat(5_000)
  const make = async (...rows: readonly (readonly [id: string, note: string])[]) => {
    for (const [id, note] of rows) await holder.subject.specimens.create(draft({ id, note }))
  }
  const three = () => make(['a', LARGE], ['b', LARGE], ['c', LARGE])
  /** The ids of each page. */
  const walk = async (list: ListOptions, maxBytes: number, repository = holder.subject.specimens) => {
    const pages: string[] = []
    let pageToken = ''
    do {
      const page = await repository.list({ ...list, pageToken }, { maxBytes })
      pages.push(page.items.map(({ id }) => id).join(''))
      pageToken = page.nextPageToken
    } while (pageToken !== '' && pages.length < 10)
    return pages
  }

  describe('maxBytes', () => {
    it('ends a page before its rows have more bytes', () =>
      inAcme(async () => {
        await make(['a', LARGE], ['b', LARGE], ['c', LARGE], ['d', ''], ['e', LARGE])
        expect(await walk({}, 25_000)).to.deep.equal(['ab', 'cde'])
        expect(await walk({ orderBy: 'id desc' }, 25_000)).to.deep.equal(['edc', 'ba'])
        expect(await walk({ pageSize: 1 }, 25_000)).to.deep.equal(['a', 'b', 'c', 'd', 'e'])
      }))

    it('ends a page whose token is an offset', () =>
      inAcme(async () => {
        const { specimens } = holder.subject.withOptions({ ...subjectOptions, paging: 'offset' })
        for (const id of ['a', 'b', 'c', 'd', 'e']) await specimens.create(draft({ id, note: LARGE }))
        expect(await walk({}, 25_000, specimens)).to.deep.equal(['ab', 'cd', 'e'])
      }))

    it('returns no token if no row follows', () =>
      inAcme(async () => {
        await three()
        expect(await walk({}, 35_000)).to.deep.equal(['abc'])
        expect(await walk({ pageSize: 3 }, 35_000)).to.deep.equal(['abc'])
      }))

    it('returns a page of one row, however large the row is', () =>
      inAcme(async () => {
        await three()
        expect(await walk({}, 1)).to.deep.equal(['a', 'b', 'c'])
      }))

    it('counts bytes, not the characters by which a driver transfers them', () =>
      inAcme(async () => {
        for (const id of ['a', 'b', 'c'])
          await holder.subject.specimens.create(draft({ id, blob: new Uint8Array(10_000).fill(7) }))
        expect(await walk({}, 25_000)).to.deep.equal(['ab', 'c'])
      }))

    it('counts JSON', () =>
      inAcme(async () => {
        for (const id of ['a', 'b', 'c'])
          await holder.subject.specimens.create(draft({ id, labels: ['x'.repeat(10_000)] }))
        expect(await walk({}, 25_000)).to.deep.equal(['ab', 'c'])
      }))

    describe('of elements', () => {
      const labels = Array.from({ length: 300 }, () => '')
      const ids = ['a', 'b', 'c']
      const makeAll = async () => {
        for (const id of ids) await holder.subject.specimens.create(draft({ id, labels }))
      }

      it('ends a page, each as 32 bytes', () =>
        inAcme(async () => {
          await makeAll()
          expect(await walk({}, 25_000)).to.deep.equal(['ab', 'c'])
          expect(await walk({ orderBy: 'id desc' }, 25_000)).to.deep.equal(['cb', 'a'])
          expect(await walk({}, 30_000)).to.deep.equal(['abc'])
          expect(await walk({}, 1_500)).to.deep.equal(['a', 'b', 'c'])
        }))

      it('rejects a BatchGet and a BatchUpdate', () =>
        inAcme(async () => {
          await makeAll()
          const { specimens } = holder.subject
          await rejection(specimens.batchGet(ids, { maxBytes: 25_000 }), TooManyBytes)
          expect(await specimens.batchGet(ids, { maxBytes: 30_000 })).to.have.length(3)
          expect(await specimens.batchGet(['a'], { maxBytes: 1_500 })).to.have.length(1)
          const items = ids.map((key) => ({ key, entity: { title: 'new' }, fieldMask: ['title'] }) as const)
          const tooMany = specimens.transaction(() => specimens.batchUpdate(items, { maxBytes: 25_000 }))
          await rejection(tooMany, TooManyBytes)
          expect((await specimens.get('a')).title).to.not.equal('new')
        }))
    })

    it('ends pages of many rows', () =>
      inAcme(async () => {
        for (let i = 0; i < 30; i++) await make([`k${String(i).padStart(2, '0')}`, LARGE])
        const [first] = await walk({}, 101_000)
        expect(first).to.have.length('k00'.length * 10)
      }))

    it('ends pages of a filtered list in a transaction', () =>
      inAcme(async () => {
        await three()
        const ids = await holder.subject.specimens.transaction(async () => {
          const page = await holder.subject.specimens.list({ filter: 'id != "a"' }, { maxBytes: 15_000 })
          const again = await holder.subject.specimens.list({}, { maxBytes: 25_000 })
          return [...page.items, ...again.items].map(({ id }) => id)
        })
        expect(ids).to.deep.equal(['b', 'a', 'b'])
      }))

    it('rejects a BatchGet of more bytes', () =>
      inAcme(async () => {
        await three()
        const ids = ['a', 'b', 'c']
        await rejection(holder.subject.specimens.batchGet(ids, { maxBytes: 25_000 }), TooManyBytes)
        expect(await holder.subject.specimens.batchGet(ids, { maxBytes: 35_000 })).to.have.length(3)
        expect(await holder.subject.specimens.batchGet(['a'], { maxBytes: 1 })).to.have.length(1)
        await holder.subject.specimens.transaction(async () => {
          await rejection(holder.subject.specimens.batchGet(ids, { maxBytes: 25_000 }), TooManyBytes)
          expect(await holder.subject.specimens.batchGet(ids, { maxBytes: 35_000 })).to.have.length(3)
        })
      }))

    it('rejects a BatchUpdate whose rows have more bytes', () =>
      inAcme(async () => {
        await three()
        const { specimens } = holder.subject
        const item = (key: string) => ({ key, entity: { title: 'new' }, fieldMask: ['title'] }) as const
        const items = ['a', 'b', 'c'].map(item)
        const tooMany = specimens.transaction(() => specimens.batchUpdate(items, { maxBytes: 25_000 }))
        await rejection(tooMany, TooManyBytes)
        expect((await specimens.get('a')).title).to.not.equal('new')
        expect(await specimens.batchUpdate(items, { maxBytes: 35_000 })).to.have.length(3)
        expect(await specimens.batchUpdate(items.slice(0, 1), { maxBytes: 1 })).to.have.length(1)
      }))
  })
}
