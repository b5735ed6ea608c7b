import fc from 'fast-check'
import { type Filter, filter } from '../../../lib/persistence/query/filter-template.js'
import { aPerson, aProject, aStep, aTask, as, type Plans } from '../../conformance/related/plans.js'
import { Project, Task } from '../../support/entities/plans.js'
import { Phase } from '../../support/gen/plans_pb.js'

interface Values {
  readonly id: string
  readonly title: string
  /** Whether the step is done, or the project closed. */
  readonly isDone: boolean
  /** Country of a person, owner of a project, project of a task, task of a step. */
  readonly refersTo: string | undefined
  /** Of a task alone. */
  readonly leadId: string | undefined
  readonly afterId: string | undefined
  /** Of a project or a task. */
  readonly isDeleted: boolean
}

export const TYPES = ['person', 'project', 'task', 'step'] as const
export type Type = (typeof TYPES)[number]
type Rows = Readonly<Record<Type, readonly Values[]>>

/** What an authorizer decides about the rows of a type, and which of them it means. */
export interface Limit {
  readonly decision: boolean | { readonly where: Filter }
  readonly allows: (row: Values) => boolean
}

/** Rows of two tenants, of which callers may know the same, and those of another tenant. */
export interface World {
  readonly limits: Readonly<Record<Type, Limit>>
  readonly known: Rows
  /** With other rows in place of those that nobody may know. */
  readonly altered: Rows
  readonly foreign: Rows
}

const IDS: Readonly<Record<Type, readonly string[]>> = {
  person: ['a', 'b', 'c'],
  project: ['p', 'q', 'r'],
  task: ['t1', 't2', 't3', 't4'],
  step: ['s1', 's2', 's3', 's4', 's5'],
}
const REFERS: Readonly<Record<Type, readonly string[]>> = {
  person: ['no', 'se'],
  project: IDS.person,
  task: IDS.project,
  step: IDS.task,
}
export const TITLES = ['a', 'b', 'c']

const maybe = (values: readonly string[]) => fc.constantFrom(undefined, ...values)
const rowsOf = (type: Type): fc.Arbitrary<readonly Values[]> =>
  fc.tuple(
    ...IDS[type].map((id, at) =>
      fc.record({
        id: fc.constant(id),
        title: fc.constantFrom(...TITLES),
        isDone: fc.boolean(),
        refersTo: type === 'step' ? fc.constantFrom(...REFERS.step) : maybe(REFERS[type]),
        leadId: maybe(IDS.person),
        // What a task comes after was there before it.
        afterId: maybe(IDS.task.slice(0, at)),
        isDeleted: fc.nat(5).map((one) => one === 0),
      }),
    ),
  )
const allRows = fc.record({
  person: rowsOf('person'),
  project: rowsOf('project'),
  task: rowsOf('task'),
  step: rowsOf('step'),
})

const ALL: Limit = { decision: true, allows: () => true }
const NONE: Limit = { decision: false, allows: () => false }
const where = (condition: Filter, allows: Limit['allows']): Limit => ({
  decision: { where: condition },
  allows,
})
const NOT_C = where(filter`title != ${'c'}`, ({ title }) => title !== 'c')
const limits = fc.record({
  person: fc.constantFrom(
    ALL,
    NONE,
    NOT_C,
    where(filter`country_id = ${'no'}`, ({ refersTo }) => refersTo === 'no'),
    where(filter`id = ${'a'} OR title = ${'b'}`, ({ id, title }) => id === 'a' || title === 'b'),
  ),
  project: fc.constantFrom(
    ALL,
    NONE,
    NOT_C,
    where(filter`phase = ${'ACTIVE'}`, ({ isDone }) => !isDone),
    where(filter`NOT owner_id = ${'a'}`, ({ refersTo }) => refersTo !== undefined && refersTo !== 'a'),
    where(filter`labels.env = ${'prod'} OR id = ${'p'}`, ({ isDone, id }) => isDone || id === 'p'),
  ),
  task: fc.constantFrom(
    ALL,
    NOT_C,
    where(filter`project_id != ${'q'}`, ({ refersTo }) => refersTo !== undefined && refersTo !== 'q'),
  ),
  step: fc.constantFrom(
    ALL,
    NONE,
    NOT_C,
    where(filter`done = ${false}`, ({ isDone }) => !isDone),
  ),
})

/**
 * Rows that callers may know stay; another takes the place of each of the rest, or none where nothing can
 * refer to it.
 */
const alter = (type: Type, { allows }: Limit, rows: readonly Values[], others: readonly Rows[]) =>
  rows.flatMap((row, at) => {
    if (allows(row)) return row
    const other = others.map((one) => one[type][at] as Values).find((one) => !allows(one))
    return other ?? (type === 'step' ? [] : row)
  })

export const worlds: fc.Arbitrary<World> = fc
  .tuple(limits, allRows, allRows, fc.array(allRows, { minLength: 3, maxLength: 3 }))
  .map(([limit, known, foreign, others]) => ({
    limits: limit,
    known,
    foreign,
    altered: {
      person: alter('person', limit.person, known.person, others),
      project: alter('project', limit.project, known.project, others),
      task: alter('task', limit.task, known.task, others),
      step: alter('step', limit.step, known.step, others),
    },
  }))

const DELETED = { deleteTime: '2030-01-01 00:00:00' }

/** Gives the rows to a tenant. */
export const fill = (plans: Plans, tenant: string, { person, project, task, step }: Rows): Promise<void> =>
  as(tenant, async () => {
    for (const { id, title, refersTo: countryId } of person)
      await plans.persons.create(aPerson(id, { title, ...(countryId && { countryId }) }))
    for (const { id, title, isDone, refersTo: ownerId } of project)
      await plans.projects.create(
        aProject(id, {
          title,
          phase: isDone ? Phase.CLOSED : Phase.ACTIVE,
          labels: isDone ? { env: 'prod' } : {},
          budget: isDone ? 2n : 1n,
          ...(ownerId && { ownerId, note: title }),
        }),
      )
    for (const { id, title, refersTo: projectId, leadId, afterId } of task)
      await plans.tasks.create(
        aTask(id, {
          title,
          ...(projectId && { projectId }),
          ...(leadId && { leadId }),
          ...(afterId && { afterId }),
        }),
      )
    for (const { id, title, isDone, refersTo } of step)
      await plans.steps.create(aStep(id, refersTo as string, { title, done: isDone }))
    for (const { id } of project.filter(({ isDeleted }) => isDeleted))
      await plans.edit(Project, id, DELETED, tenant)
    for (const { id } of task.filter(({ isDeleted }) => isDeleted))
      await plans.edit(Task, id, DELETED, tenant)
  })
