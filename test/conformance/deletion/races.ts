import { expect } from 'chai'
import { Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { Isolation } from '../../../lib/persistence/contract/repository.js'
import { drill, drilling } from '../../support/drill.js'
import { familyCases, type FamilyHolder, inAcme } from './family-subject.js'
import { orphansIn } from './orphans-in.js'
import { raceCases } from './race-cases.js'

/** What one of two that meet may be told. */
const TOLD = [Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument]
const LEVELS: readonly (Isolation | undefined)[] = [
  undefined,
  'read committed',
  'repeatable read',
  'serializable',
]
const ROUNDS = drill(4, 100)
/** So many rounds leave rows behind before they are looked at. */
const AT_ONCE = 50

/** What a row refers to goes while the row begins to refer to it. */
export const races = (holder: FamilyHolder): void => {
  const { of } = familyCases(holder)

  describe('no race leaves a child without its parent', () => {
    for (const isolation of LEVELS)
      for (const { name, prepare, remove, refer } of raceCases(of))
        it(`keeps the parent during ${name}, in ${isolation ?? 'no transaction'}, ${ROUNDS} times`, async () => {
          const inside = (fn: (id: string) => Promise<unknown>) => (id: string) =>
            inAcme(() =>
              isolation === undefined ? fn(id) : of().projects.transaction(() => fn(id), { isolation }),
            )
          const outcomes = { won: 0, refused: 0 }
          for (let round = 0; round < ROUNDS; round++) {
            const id = `r${round}`
            await inAcme(() => prepare(id))
            // A delete by itself is refused by no isolation level: every other round has one.
            const removing = round % 2 === 0 ? inside(remove) : (key: string) => inAcme(() => remove(key))
            const both = [removing, inside(refer)]
            if (round % 4 < 2) both.reverse()
            for (const outcome of await Promise.allSettled(both.map((fn) => fn(id)))) {
              if (outcome.status === 'fulfilled') outcomes.won++
              else {
                const isTold = TOLD.some((type) => outcome.reason instanceof type)
                if (!isTold) throw outcome.reason
                outcomes.refused++
              }
            }
            if ((round + 1) % AT_ONCE !== 0 && round + 1 !== ROUNDS) continue
            expect(await orphansIn(of())).to.deep.equal([])
            await holder.subject.clear()
          }
          if (drilling) process.stdout.write(`        ${JSON.stringify(outcomes)}\n`)
          expect(outcomes.won, JSON.stringify(outcomes)).to.be.at.least(ROUNDS / 2)
        })
  })
}
