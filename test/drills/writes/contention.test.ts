import { expect } from 'chai'
import { ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import type { Specimen } from '../../support/entities/specimen.js'

const ROUNDS = drill(50, 1000)

/** Starts both, one way round and then the other, and answers what became of the first and the second. */
async function race<A, B>(
  round: number,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]> {
  if (round % 2 === 0) return Promise.allSettled([first(), second()])
  const [b, a] = await Promise.allSettled([second(), first()])
  return [a, b]
}

const hasWon = <T>(outcome: PromiseSettledResult<T>): outcome is PromiseFulfilledResult<T> =>
  outcome.status === 'fulfilled'

function expectLoss(outcome: PromiseSettledResult<unknown>, type: abstract new () => Error): void {
  expect(outcome).to.have.property('reason').that.is.instanceOf(type)
}

describeOn('two writers with one etag', databases, (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject?.close())

  const update = ({ id, etag }: Specimen, title: string) =>
    subject.specimens.update(id, { title }, ['title'], { ifMatch: etag })
  const remove = ({ id, etag }: Specimen) => subject.specimens.delete(id, { ifMatch: etag })

  it(`two updates: exactly one wins, ${ROUNDS} times`, () =>
    inAcme(async () => {
      let current = await subject.specimens.create(draft())
      for (let round = 0; round < ROUNDS; round++) {
        const outcomes = await race(
          round,
          () => update(current, `a${round}`),
          () => update(current, `b${round}`),
        )
        const winners = outcomes.filter(hasWon)
        expect(winners, `round ${round}`).to.have.length(1)
        expectLoss(
          outcomes.find((outcome) => !hasWon(outcome))!,
          ErrPreconditionFailed,
        )
        const stored = await subject.specimens.get(current.id)
        expect(stored).to.deep.equal(winners[0]?.value)
        current = stored
      }
    }))

  it(`an update and a delete: exactly one wins, ${ROUNDS} times`, () =>
    inAcme(async () => {
      let current = await subject.specimens.create(draft())
      for (let round = 0; round < ROUNDS; round++) {
        const [updated, deleted] = await race(
          round,
          () => update(current, `c${round}`),
          () => remove(current),
        )
        expect(
          [updated, deleted].filter(({ status }) => status === 'fulfilled'),
          `round ${round}`,
        ).to.have.length(1)
        if (updated.status === 'fulfilled') {
          expectLoss(deleted, ErrPreconditionFailed)
          expect(await subject.specimens.get(current.id)).to.deep.equal(updated.value)
          current = updated.value
        } else {
          expectLoss(updated, ErrNotFound)
          current = await subject.specimens.undelete(current.id)
          expect(current.title).to.not.equal(`c${round}`)
        }
      }
    }))
})
