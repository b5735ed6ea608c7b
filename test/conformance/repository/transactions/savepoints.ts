import { expect } from 'chai'
import { RequestContext } from '../../../../lib/context.js'
import { ErrConflict, ErrNotFound, PermissionDenied } from '../../../../lib/errors.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'
import { casesOf, Stop } from './cases.js'

/** All or nothing, and savepoints. */
export const savepoints = (holder: Holder): void => {
  const { ids, make } = casesOf(holder)

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

    it('rolls everything back when its function throws', () =>
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

    it('rejects, and does not throw, for a caller without a tenant', () =>
      rejection(
        holder.subject.specimens.transaction(() => Promise.resolve()),
        PermissionDenied,
      ))

    it('stays usable after a caught conflict', () =>
      inAcme(async () => {
        await holder.subject.specimens.transaction(async () => {
          await make('a')
          await rejection(make('b', 'a'), ErrConflict)
          await make('c')
        })
        expect(await ids()).to.deep.equal(['a', 'c'])
      }))

    it('uses a savepoint for a nested transaction', () =>
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

    it('shows nothing to other readers before it commits', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        let beside: Promise<readonly unknown[]> = Promise.resolve([])
        const failing = specimens.transaction(async () => {
          await make('inside')
          expect(await ids()).to.deep.equal(['inside'])
          beside = RequestContext.detached(() =>
            Promise.all([ids(), rejection(specimens.get('inside'), ErrNotFound)]),
          )
          await new Promise((resolve) => setImmediate(resolve))
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect((await beside)[0]).to.deep.equal([])
      }))

    it('keeps a write made beside a nested transaction that fails', () =>
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

    it('runs simultaneous nested transactions one after another, and rolls back only the failed one', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.transaction(async () => {
          let running = 0
          const nested = (id: string, isFailing: boolean) =>
            specimens.transaction(async () => {
              expect(++running).to.equal(1)
              await make(id)
              await new Promise((resolve) => setTimeout(resolve, 5))
              running--
              if (isFailing) throw new Stop()
            })
          await Promise.all([
            rejection(nested('a', true), Stop),
            nested('b', false),
            rejection(nested('c', true), Stop),
            make('d'),
            nested('e', false),
          ])
        })
        expect(await ids()).to.deep.equal(['b', 'd', 'e'])
      }))

    it('rolls back an atomic batch inside it', () =>
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

    it('rejects a call in the context of an ended transaction', () =>
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

    describe('with readOnly', () => {
      it('reads, and refuses writes, in a savepoint as well', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await make('a')
          await specimens.transaction(
            async () => {
              expect(await ids()).to.deep.equal(['a'])
              await rejection(make('b'), TypeError, 'Specimen.create inside a transaction with readOnly')
              await specimens.transaction(() => rejection(specimens.delete('a'), TypeError, 'readOnly'))
            },
            { readOnly: true },
          )
          await make('c')
          expect(await ids()).to.deep.equal(['a', 'c'])
        }))

      it('rejects readOnly and isolation in a nested transaction', () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await specimens.transaction(async () => {
            await rejection(
              specimens.transaction(() => ids(), { readOnly: true }),
              TypeError,
              'outermost transaction',
            )
            await rejection(
              specimens.transaction(() => ids(), { isolation: 'serializable' }),
              TypeError,
              'outermost transaction',
            )
            await rejection(
              specimens.transaction(() => ids(), { maxAttempts: 2 }),
              TypeError,
              'outermost transaction',
            )
          })
        }))
    })

    it('is isolated as it asks: two that read before they write do not both keep what they wrote', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const count = async (id: string) =>
          specimens.transaction(
            async () => {
              const { length } = (await specimens.list()).items
              await new Promise((resolve) => setTimeout(resolve, 20))
              // Not in the unique column: PostgreSQL may tell of the duplicate before the serialization
              // failure.
              return specimens.create(draft({ id, title: `${length}` }))
            },
            { isolation: 'serializable', maxAttempts: 11 },
          )
        await Promise.all([count('a'), count('b'), count('c')])
        const titles = (await specimens.list()).items.map(({ title }) => title)
        expect(titles.sort()).to.deep.equal(['0', '1', '2'])
      }))
  })
}
