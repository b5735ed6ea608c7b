import { expect } from 'chai'
import { Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import type { Isolation, Repository } from '../../../lib/persistence/contract/repository.js'
import { drill } from '../../support/drill.js'
import { familyCases, type FamilyHolder, inAcme } from './family-subject.js'

/** What one of two that meet may be told. */
const TOLD = [Aborted, ErrNotFound, ErrPreconditionFailed, InvalidArgument]
const LEVELS: readonly (Isolation | undefined)[] = [
  undefined,
  'read committed',
  'repeatable read',
  'serializable',
]

type Race = readonly [
  name: string,
  prepare: (id: string) => Promise<unknown>,
  remove: (id: string) => Promise<unknown>,
  refer: (id: string) => Promise<unknown>,
]

/** A parent is deleted while a child begins to refer to it. */
export const races = (holder: FamilyHolder): void => {
  const { of } = familyCases(holder)
  const cases: readonly Race[] = [
    [
      'restrict and create',
      (id) => of().jobs.create({ id, code: id }),
      (id) => of().jobs.delete(id),
      (id) => of().remarks.create({ id, jobId: id }),
    ],
    [
      'cascade and create',
      (id) => of().projects.create({ id }),
      (id) => of().projects.delete(id, { force: true }),
      (id) => of().milestones.create({ id, projectId: id }),
    ],
    [
      'cascade and a child of a child',
      async (id) => {
        await of().projects.create({ id })
        await of().milestones.create({ id, projectId: id })
      },
      (id) => of().projects.delete(id),
      (id) => of().jobs.create({ id, code: id, milestoneId: id }),
    ],
    [
      'cascade and change',
      async (id) => {
        await of().projects.create({ id })
        await of().projects.create({ id: `${id}-other` })
        await of().milestones.create({ id, projectId: `${id}-other` })
      },
      (id) => of().projects.delete(id),
      (id) => of().milestones.update(id, { projectId: id }, ['project_id']),
    ],
    [
      'restrict and undelete',
      async (id) => {
        await of().jobs.create({ id, code: id })
        await of().remarks.create({ id, jobId: id })
        await of().remarks.delete(id)
      },
      (id) => of().jobs.delete(id),
      (id) => of().remarks.undelete(id),
    ],
    [
      'set null and create',
      (id) => of().projects.create({ id }),
      (id) => of().projects.delete(id),
      (id) => of().bookmarks.create({ id, projectId: id }),
    ],
    [
      'removal and create',
      (id) => of().crates.create({ id }),
      (id) => of().crates.delete(id),
      (id) => of().bottles.create({ id, crateId: id }),
    ],
    [
      'a refused removal and create',
      (id) => of().crates.create({ id }),
      (id) => of().crates.batchDelete([id]),
      (id) => of().stickers.create({ id, crateId: id }),
    ],
  ]
  const rounds = drill(8, 500)

  describe('no race leaves a child without its parent', () => {
    for (const isolation of LEVELS)
      for (const [name, prepare, remove, refer] of cases)
        it(`of ${name}, in ${isolation ?? 'no transaction'}, ${rounds} times`, async () => {
          const inside = (fn: (id: string) => Promise<unknown>) => (id: string) =>
            inAcme(() =>
              isolation === undefined ? fn(id) : of().projects.transaction(() => fn(id), { isolation }),
            )
          const outcomes = { won: 0, refused: 0 }
          for (let round = 0; round < rounds; round++) {
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
          }
          expect(await orphans(of())).to.deep.equal([])
          expect(outcomes.won, JSON.stringify(outcomes)).to.be.at.least(rounds)
        }).timeout(600_000)
  })
}

type Family = ReturnType<ReturnType<typeof familyCases>['of']>

/** Live rows that refer to one that is not live, or not there. */
async function orphans(family: Family): Promise<string[]> {
  const ids = async (repository: Repository<object>): Promise<Set<string>> =>
    new Set((await all(repository)).map(({ id }) => id))
  const all = async (repository: Repository<object>): Promise<Row[]> => {
    const found: Row[] = []
    for (let pageToken = ''; ;) {
      const page = await inAcme(() => repository.list({ pageSize: 1000, pageToken }))
      found.push(...(page.items as Row[]))
      if ((pageToken = page.nextPageToken) === '') return found
    }
  }
  const { projects, milestones, jobs, remarks, bookmarks, crates, bottles, stickers } =
    family as unknown as Record<keyof Family, Repository<object>>
  const lost: string[] = []
  for (const [children, property, parents] of [
    [milestones, 'projectId', projects],
    [jobs, 'milestoneId', milestones],
    [remarks, 'jobId', jobs],
    [bookmarks, 'projectId', projects],
    [bottles, 'crateId', crates],
    [stickers, 'crateId', crates],
  ] as const) {
    const live = await ids(parents)
    for (const row of await all(children)) {
      const to = row[property]
      if (to !== undefined && !live.has(to)) lost.push(`${children.model.type} ${row.id} → ${to}`)
    }
  }
  return lost
}

type Row = Readonly<Record<string, string | undefined>> & { readonly id: string }
