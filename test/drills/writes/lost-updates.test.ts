import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { increment, type Patch } from '../../../lib/resource/values/increment.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'
import { backends, describeOn, pooled } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import type { Specimen } from '../../support/entities/specimen.js'

const CALLERS = 64
const ROUNDS = drill(1, 1000)

describeOn(`${CALLERS} writers of one row`, [...backends, ...pooled], (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
  })
  beforeEach(() => subject.clear())
  after(() => subject?.close())

  const make = (values: Partial<Specimen>) => subject.specimens.create(draft({ id: 'a', ...values }))
  const stored = () => subject.specimens.get('a')
  const update = (patch: Patch<Specimen>) =>
    subject.specimens.update('a', patch, Object.keys(patch) as ['count'])
  const grow = () => subject.specimens.modify('a', ({ count }) => ({ count: count + 1 }))
  const add = () => update({ count: increment(1) })
  const atOnce = <T>(call: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: CALLERS }, (_, index) => call(index)))

  it(`with modify lose nothing, in ${ROUNDS} rounds`, () =>
    inAcme(async () => {
      await make({ count: 0 })
      for (let round = 1; round <= ROUNDS; round++) {
        await atOnce(grow)
        expect((await stored()).count, `round ${round}`).to.equal(round * CALLERS)
      }
    }))

  it(`with increment lose nothing, and stop at the end of the range, in ${ROUNDS} rounds`, () =>
    inAcme(async () => {
      const stock = CALLERS / 2
      await make({ count: 0, weight: stock })
      const take = async () => {
        try {
          await update({ weight: increment(-1) })
          return 'taken'
        } catch (error) {
          if (error instanceof InvalidArgument) return 'none left'
          throw error
        }
      }
      for (let round = 1; round <= ROUNDS; round++) {
        const [, outcomes] = await Promise.all([atOnce(add), atOnce(take)])
        const taken = outcomes.filter((outcome) => outcome === 'taken').length
        expect(taken, `round ${round}`).to.equal(stock)
        expect(await stored(), `round ${round}`).to.deep.include({ count: round * CALLERS, weight: 0 })
        await update({ weight: stock })
      }
    }))

  it(`with modify and increment by turns lose nothing, in ${ROUNDS} rounds`, () =>
    inAcme(async () => {
      await make({ count: 0 })
      for (let round = 1; round <= ROUNDS; round++) {
        await atOnce((index) => (index % 2 === 0 ? grow() : add()))
        expect((await stored()).count, `round ${round}`).to.equal(round * CALLERS)
      }
    }))
})
