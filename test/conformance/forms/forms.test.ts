import { expect } from 'chai'
import { repositoryContract } from '../../../lib/testing/contract/repository-contract.js'
import { type BackendName, backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { callOver } from './form-calls.js'
import { ASKED, CHOICES } from './form-choices.js'
import { formed } from './form-entities.js'
import { type Made, operationsOn } from './form-operations.js'
import { openForms, type OpenForms, Trial } from './open-forms.js'

const FORMS = ASKED.map(formed)

/** In `npm test` SQLite is asked each pair of choices, and the others some of the rows, each others. */
const PLACES: Readonly<Partial<Record<BackendName, number>>> = { memory: 0, postgres: 1, mariadb: 2 }
const isAsked = (name: BackendName, at: number): boolean =>
  drilling || name === 'sqlite' || at % 8 === PLACES[name]
/** The contract is asked of fewer rows, because it has tests of its own. */
const hasContract = (at: number): boolean => drilling || at % 6 === 1

describeOn('what people bring', [...backends, ...coalesced], (backend) => {
  const { name } = backend
  const asked = FORMS.filter(
    ({ choice }, at) => isAsked(name, at) && !(name === 'memory' && choice.hasTrigger),
  )
  for (const naming of CHOICES.naming) {
    const group = asked.filter(({ choice }) => choice.naming === naming)
    if (group.length === 0) continue
    describe(`with columns named by ${naming}`, () => {
      let opened: OpenForms
      before(async () => {
        opened = await openForms(backend, group)
      })
      after(() => opened?.close())

      for (const one of group)
        describe(one.name, () => {
          let trial: Trial
          let made: Made
          let others: unknown

          before(() => {
            trial = new Trial(one, opened)
          })
          beforeEach(async () => {
            if (name === 'memory') trial = new Trial(one, opened)
            await trial.clear()
          })

          describe('does what a repository does', () => {
            beforeEach(async () => {
              const theirs = await trial.asTheirs(async () => {
                const item = await trial.make('theirs', { count: 2 })
                await trial.piece('theirs', item)
                return item
              })
              await trial.asOurs(async () => {
                const [third, first, second] = [
                  await trial.make('third', { count: 3 }),
                  await trial.make('first'),
                  await trial.make('second', { count: 2 }),
                ]
                await trial.piece('p1', first)
                await trial.piece('p2', second)
                made = { first, second, third, theirs }
                if (!trial.hasOrphans) return
                const nobody = await trial.make('nobody', { expireTime: new Date('2000-01-01T00:00:00Z') })
                for (const [id, item] of Object.entries({ lost: first, stray: nobody }))
                  await trial.piece(id, item)
                for (const id of ['lost', 'stray']) if (trial.pieces) await trial.orphan(trial.pieces, id)
                await trial.orphan(trial.items, trial.keyOf(nobody))
              })
              others = await trial.others()
            })
            // What belongs to others, or to nobody, is as it was.
            afterEach(async () => expect(await trial.others()).to.deep.equal(others))

            for (const [what, run] of operationsOn(one.choice, name === 'memory'))
              it(what, () => trial.asOurs(() => run(trial, made)))
            it('calls', () => callOver(trial, made))
          })

          if (hasContract(FORMS.indexOf(one)))
            repositoryContract(() => ({
              repository: trial.items as never,
              make: (n) => trial.to(trial.draft(`title ${n}`)),
              change: { patch: trial.to({ title: 'changed', count: 7 }), mask: ['title', 'count'] },
            }))
        })
    })
  }
})
