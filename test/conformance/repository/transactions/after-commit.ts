import { expect } from 'chai'
import { type CallFailure, RequestContext } from '../../../../lib/context.js'
import { type Holder, inAcme, rejection, subjectOptions } from '../subject.js'
import { casesOf, Stop } from './cases.js'

/** What is run when a transaction has committed. */
export const afterCommit = (holder: Holder): void => {
  const { ids, make } = casesOf(holder)

  describe('afterCommit', () => {
    it('runs when the outermost transaction has committed, outside of it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const seen: unknown[] = []
        const note = (word: string) => async () => {
          seen.push([word, RequestContext.current().transaction, (await specimens.list()).items.length])
        }
        await specimens.transaction(async ({ afterCommit }) => {
          await make('a')
          afterCommit(note('outer'))
          await specimens.transaction(async (inner) => {
            await make('b')
            inner.afterCommit(note('inner'))
          })
          RequestContext.current().afterCommit(note('current'))
          expect(seen).to.deep.equal([])
        })
        expect(seen).to.deep.equal([
          ['outer', undefined, 2],
          ['inner', undefined, 2],
          ['current', undefined, 2],
        ])
      }))

    it('writes what the transaction around that of another database writes as well', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const others = holder.subject.withOptions(subjectOptions).specimens
        await specimens.transaction(async () => {
          await make('a')
          await others.transaction(async ({ afterCommit }) => afterCommit(() => make('b')))
        })
        expect(await ids()).to.deep.equal(['a', 'b'])
      }))

    it('runs at once where there is no transaction', () =>
      inAcme(async () => {
        const seen: string[] = []
        RequestContext.current().afterCommit(() => seen.push('ran'))
        expect(seen).to.deep.equal(['ran'])
      }))

    it('is forgotten when its transaction or its savepoint is rolled back', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const seen: string[] = []
        const failing = specimens.transaction(async ({ afterCommit }) => {
          afterCommit(() => seen.push('rolled back'))
          throw new Stop()
        })
        await rejection(failing, Stop)
        await specimens.transaction(async ({ afterCommit }) => {
          const nested = specimens.transaction(async (inner) => {
            inner.afterCommit(() => seen.push('savepoint'))
            throw new Stop()
          })
          await rejection(nested, Stop)
          afterCommit(() => seen.push('kept'))
        })
        expect(seen).to.deep.equal(['kept'])
      }))

    it('fails without failing the transaction, and is logged', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const failures: CallFailure[] = []
        const context = RequestContext.current().with({ onFailure: (failure) => failures.push(failure) })
        const seen: string[] = []
        const answer = await specimens.transaction(
          async ({ afterCommit }) => {
            afterCommit(() => {
              throw new Stop('thrown')
            })
            afterCommit(() => Promise.reject(new Stop('rejected')))
            afterCommit(() => seen.push('third'))
            return (await make('a')).id
          },
          { context },
        )
        expect(answer).to.equal('a')
        expect(seen).to.deep.equal(['third'])
        expect(failures.map(({ error }) => (error as Error).message)).to.deep.equal(['thrown', 'rejected'])
      }))
  })
}
