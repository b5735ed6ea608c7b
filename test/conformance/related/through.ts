import { expect } from 'chai'
import type { Through } from '../../../lib/persistence/contract/repository.js'
import type { Person } from '../../support/entities/plans.js'
import { Phase } from '../../support/gen/plans_pb.js'
import { aPerson, aProject, aStep, aTask, type PlansHolder } from './plans.js'

export const ALL: readonly Through[] = [
  'project.owner.country',
  'lead.badge',
  'after.project',
  'steps.task',
  'project.tasks',
]

export const ids = (items: readonly { readonly id: string }[]): string => items.map(({ id }) => id).join(' ')

/** Four tasks of two projects. */
export const makePlans = async (holder: PlansHolder): Promise<void> => {
  const { badges, countries, persons, projects, steps, tasks } = holder.plans
  await countries.create({ id: 'no', title: 'Norway' })
  await persons.create(aPerson('ada', { countryId: 'no' }))
  await persons.create(aPerson('bob'))
  await badges.create({ id: 'b1', color: 'red', person: { id: 'ada' } as Person, ...{ personId: 'ada' } })
  const labels = { env: 'prod' }
  await projects.create(aProject('p1', { ownerId: 'ada', phase: Phase.ACTIVE, budget: 2n ** 62n, labels }))
  await projects.create(aProject('p2', { ownerId: 'bob', phase: Phase.CLOSED, note: 'n' }))
  await tasks.create(aTask('t1', { projectId: 'p1', leadId: 'bob' }))
  await tasks.create(aTask('t2', { projectId: 'p1', afterId: 't1' }))
  await tasks.create(aTask('t3', { projectId: 'p2', leadId: 'ada' }))
  await tasks.create(aTask('t4'))
  await steps.create(aStep('s1', 't1', { title: 'dig', done: true }))
  await steps.create(aStep('s2', 't1', { title: 'fill', done: false }))
  await steps.create(aStep('s3', 't2', { title: 'digger', done: false }))
}

/** The tasks that a list has, and a count counts. */
export const listed = async (
  holder: PlansHolder,
  text: string,
  through: readonly Through[] = ALL,
  orderBy = '',
): Promise<string> => {
  const { tasks } = holder.plans
  const { items } = await tasks.list({ filter: text, orderBy }, { through })
  expect(await tasks.count({ filter: text }, { through })).to.equal(items.length)
  expect(await tasks.exists({ filter: text }, { through })).to.equal(items.length > 0)
  return ids(items)
}
