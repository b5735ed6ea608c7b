import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { Isolation, Repository } from '../../../lib/persistence/contract/repository.js'
import type { Project } from './projects.js'
import type { RelationSubject } from './relation-subject.js'

/** What a race may end with on either side; anything else fails the test. */
const LOSERS = [Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument]

const LEVELS: readonly (Isolation | undefined)[] = [
  undefined,
  'read committed',
  'repeatable read',
  'serializable',
]

/** The level of the transactions around both sides; undefined for no transaction at all. */
const within = <T>(
  { projects }: RelationSubject,
  isolation: Isolation | undefined,
  work: () => Promise<T>,
): Promise<T> => (isolation === undefined ? work() : projects.transaction(() => work(), { isolation }))

/** Whether it happened. */
const outcome = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (LOSERS.some((type) => error instanceof type)) return false
      throw error
    },
  )

/** How a child comes to a parent: it is created, or it moves there. */
const ARRIVALS: Readonly<
  Record<string, (at: RelationSubject, child: string, parent: string) => Promise<unknown>>
> = {
  'a create': ({ tasks }, child, parent) => tasks.create({ id: child, projectId: parent }),
  'an update': ({ tasks }, child, parent) => tasks.update(child, { projectId: parent }, ['project_id']),
}

/** @param rounds - of each kind and level. */
export function orphanRaces(holder: { readonly subject: RelationSubject }, rounds: number): void {
  const ways: readonly (readonly [
    name: string,
    remove: (projects: Repository<Project>, id: string) => Promise<void>,
  ])[] = [['a delete', (projects, id) => projects.delete(id)]]
  for (const level of LEVELS)
    for (const [arrival, arrive] of Object.entries(ARRIVALS))
      for (const [removal, remove] of ways)
        it(`leaves no orphan when ${arrival} meets ${removal}, ${level === undefined ? 'each alone' : `both in ${level}`}`, async () => {
          const at = holder.subject
          let created = 0
          await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
            await at.projects.create({ id: 'home' })
            for (let round = 0; round < rounds; round++) {
              const [parent, child] = [`parent ${round}`, `child ${round}`]
              await at.projects.create({ id: parent })
              if (arrival === 'an update') await at.tasks.create({ id: child, projectId: 'home' })
              const sides = [
                () => outcome(within(at, level, () => arrive(at, child, parent))),
                () => outcome(within(at, level, () => remove(at.projects, parent))),
              ]
              if (round % 2 === 1) sides.reverse()
              const results = await Promise.all(sides.map((side) => side()))
              const [arrived, removed] = round % 2 === 1 ? results.reverse() : results
              const parentLives = await at.projects.exists({ filter: `id = "${parent}"` })
              const refers = await at.tasks.exists({ filter: `project_id = "${parent}"` })
              expect(refers && !parentLives, `${child} is an orphan in round ${round}`).to.equal(false)
              expect(refers).to.equal(arrived)
              expect(parentLives).to.equal(removed !== true)
              if (arrived === true) created++
            }
          })
          expect(created).to.be.at.most(rounds)
        })
}
