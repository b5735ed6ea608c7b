import { expect } from 'chai'
import { ErrConflict } from '../../../lib/errors.js'
import { draft, type Holder, inAcme, rejection } from './subject.js'

class Stop extends Error {}

/** Transactions that repository calls join through their context. */
export const transactions = (holder: Holder): void => {
  const ids = async () => (await holder.subject.specimens.list()).items.map(({ id }) => id)
  const make = (id: string, code = id) => holder.subject.specimens.create(draft({ id, code }))

  describe('transaction', () => {
    it('keeps what was written when its function resolves', () =>
      inAcme(async () => {
        const answer = await holder.subject.specimens.transaction(async () => {
          await make('a')
          return (await make('b')).id
        })
        expect(answer).to.equal('b')
        expect(await ids()).to.deep.equal(['a', 'b'])
      }))

    it('takes everything back when its function throws', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a')
        const failing = specimens.transaction(async () => {
          await make('b')
          await specimens.update('a', { title: 'changed' }, ['title'])
          await specimens.delete('a')
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect(await ids()).to.deep.equal(['a'])
        expect((await specimens.get('a')).title).to.equal('Granite')
      }))

    it('a caught conflict leaves it usable', () =>
      inAcme(async () => {
        await holder.subject.specimens.transaction(async () => {
          await make('a')
          await rejection(make('b', 'a'), ErrConflict)
          await make('c')
        })
        expect(await ids()).to.deep.equal(['a', 'c'])
      }))

    it('a nested one is a savepoint', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          await make('a')
          const nested = specimens.transaction(async () => {
            await make('b')
            throw new Stop()
          })
          await rejection(nested, Stop)
          await specimens.transaction(() => make('c'))
        })
        expect(await ids()).to.deep.equal(['a', 'c'])
      }))

    it("another caller's write that succeeded survives a rollback beside it", () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        let beside: Promise<unknown> = Promise.resolve()
        let leave: () => void = () => {}
        const started = new Promise<void>((resolve) => {
          const failing = specimens.transaction(async () => {
            await make('inside')
            resolve()
            await new Promise<void>((go) => (leave = go))
            throw new Stop()
          })
          beside = rejection(failing, Stop)
        })
        await started
        const outside = make('outside')
        leave()
        await Promise.all([beside, outside])
        expect(await ids()).to.deep.equal(['outside'])
      }))

    it('a write beside a nested one that fails is not taken back with it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          let leave: () => void = () => {}
          let failing: Promise<unknown> = Promise.resolve()
          await new Promise<void>((started) => {
            const nested = specimens.transaction(async () => {
              await make('inside')
              await new Promise<void>((go) => {
                leave = go
                started()
              })
              throw new Stop()
            })
            failing = rejection(nested, Stop)
          })
          const beside = make('beside')
          leave()
          await Promise.all([failing, beside])
        })
        expect(await ids()).to.deep.equal(['beside'])
      }))

    it('an atomic batch inside of one is taken back with it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a')
        const failing = specimens.transaction(async () => {
          await specimens.batchUpdate([{ key: 'a', entity: { title: 'x' }, fieldMask: ['title'] }])
          await specimens.batchDelete(['a'])
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect((await specimens.get('a')).title).to.equal('Granite')
      }))

    it('a call in the context of an ended one is refused', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        let later: () => Promise<unknown> = () => Promise.resolve()
        await specimens.transaction(async (context) => {
          later = () => specimens.create(draft({ id: 'late' }), { context })
          await make('a')
        })
        await rejection(later(), TypeError, 'ended')
        expect(await ids()).to.deep.equal(['a'])
      }))
  })
}
