import { expect } from 'chai'
import { clock, draft, type Holder, inAcme } from '../subject.js'

const DAY_MS = 86_400_000

export const clockJumps = (holder: Holder): void => {
  describe('a clock that jumps', () => {
    const start = clock.now
    afterEach(() => (clock.now = start))

    it('never moves update_time back or repeats an etag', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const created = await specimens.create(draft())
        const { id } = created
        const other = await specimens.create(draft())
        const etags = new Set([created.etag])
        const check = async (returned: { updateTime: Date; etag: string } | undefined, expected: Date) => {
          const stored = await specimens.get(id)
          if (returned !== undefined)
            expect(returned).to.deep.include({ updateTime: expected, etag: stored.etag })
          expect(stored.updateTime).to.deep.equal(expected)
          expect(stored.updateTime >= stored.createTime).to.equal(true)
          expect(etags.has(stored.etag)).to.equal(false)
          etags.add(stored.etag)
        }
        const batched = (count: number) =>
          specimens.batchUpdate(
            [id, other.id].map((key) => ({ key, entity: { count }, fieldMask: ['count'] })),
          )

        clock.now = new Date(start.getTime() - DAY_MS)
        await check(await specimens.update(id, { title: 'a' }, ['title']), start)
        await check(await specimens.update(id, { title: 'a' }, ['title']), start)
        await check((await batched(3))[0], start)
        await check(await specimens.modify(id, ({ count }) => ({ count: count + 1 })), start)
        const several = ['b', 'c', 'd'].map((title) => specimens.update(id, { title }, ['title']))
        await Promise.all(several)
        await check(undefined, start)
        await specimens.delete(id)
        await check(await specimens.undelete(id), start)

        clock.now = new Date(start.getTime() + DAY_MS)
        await check(await specimens.update(id, { title: 'e' }, ['title']), clock.now)
        const last = clock.now
        clock.now = new Date(start.getTime())
        await specimens.delete(id)
        await check(await specimens.undelete(id), last)
      }))
  })
}
