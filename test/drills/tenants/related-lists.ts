import fc from 'fast-check'
import { TITLES, type Type } from './plan-rows.js'

/** Persons refer to nothing that anybody may list. */
export type Listed = Exclude<Type, 'person'>

/** A List of resources that refer to one another. */
export interface List {
  readonly type: Listed
  readonly filter: string
  readonly orderBy: string
  readonly pageSize: number
  readonly showDeleted: boolean
  readonly mask: readonly string[]
}

/** What fields of a type are compared with, and where its relations lead: to one, or to several. */
interface Named {
  readonly fields: Readonly<Record<string, readonly string[]>>
  readonly one: Readonly<Record<string, Type>>
  readonly many: Readonly<Record<string, Type>>
}

const TEXTS = TITLES.flatMap((title) => [` = "${title}"`, `:"${title}"`, ` >= "${title}"`, ` != "${title}"`])
const NULLS = [' = null', ' != "x"', ' = "a"', ' = "p"', ' < "t2"']
const NAMED: Readonly<Record<Type, Named>> = {
  person: { fields: { id: NULLS, title: TEXTS, country_id: [...NULLS, ' = "no"'] }, one: {}, many: {} },
  project: {
    fields: {
      title: TEXTS,
      phase: [' = ACTIVE', ' != ACTIVE', ' = null'],
      budget: [' > 1', ' <= 1'],
      note: [...NULLS, ...TEXTS],
      'labels.env': [' = "prod"'],
      labels: [':env'],
      owner_id: NULLS,
    },
    one: { owner: 'person' },
    many: { tasks: 'task' },
  },
  task: {
    fields: { title: TEXTS, project_id: NULLS, lead_id: NULLS, after_id: NULLS },
    one: { project: 'project', lead: 'person', after: 'task' },
    many: { steps: 'step' },
  },
  step: { fields: { title: TEXTS, done: [' = true', ' = false'] }, one: { task: 'task' }, many: {} },
}
/** What nobody may name, whoever may list the rest. */
const CLOSED = [
  'project.api_key = "x"',
  'lead.password:"h"',
  'lead.country.title = "Norway"',
  'owner.badge:*',
]

/** Paths of at most three relations, with the type that each leads to. */
const pathsFrom = (
  type: Type,
  kinds: readonly ('one' | 'many')[],
  depth = 3,
): readonly (readonly [string, Type])[] =>
  depth === 0
    ? []
    : kinds
        .flatMap((kind) => Object.entries(NAMED[type][kind]))
        .flatMap(([name, target]) => [
          [name, target] as const,
          ...pathsFrom(target, kinds, depth - 1).map(([path, last]) => [`${name}.${path}`, last] as const),
        ])

const comparison = (type: Listed): fc.Arbitrary<string> => {
  const related = fc.constantFrom(...pathsFrom(type, ['one', 'many']))
  const field = (path: string, of: Type) =>
    fc
      .constantFrom(...Object.entries(NAMED[of].fields))
      .chain(([name, ends]) => fc.constantFrom(...ends).map((end) => `${path}${name}${end}`))
  return fc.oneof(
    { weight: 2, arbitrary: field('', type) },
    { weight: 8, arbitrary: related.chain(([path, of]) => field(`${path}.`, of)) },
    {
      weight: 4,
      arbitrary: fc.tuple(related, fc.constantFrom(':*', ' = null')).map(([[path], end]) => path + end),
    },
    { weight: 1, arbitrary: fc.constantFrom(...CLOSED) },
  )
}

const filterOf = (type: Listed): fc.Arbitrary<string> =>
  fc
    .array(
      fc.tuple(fc.constantFrom('', '', 'NOT '), comparison(type), fc.constantFrom(' AND ', ' OR ', ' ')),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((terms) => terms.map(([not, term, and], i) => (i === 0 ? '' : and) + not + term).join(''))

const orderOf = (type: Listed): fc.Arbitrary<string> => {
  const term = fc.constantFrom(['', type] as const, ...pathsFrom(type, ['one'])).chain(([path, of]) =>
    fc.tuple(
      fc
        .constantFrom(...Object.keys(NAMED[of].fields))
        .map((name) => (path === '' ? name : `${path}.${name}`)),
      fc.constantFrom('', ' desc'),
    ),
  )
  return fc
    .uniqueArray(term, { maxLength: 2, selector: ([name]) => name })
    .map((terms) => terms.map(([name, direction]) => name + direction).join(', '))
}

const MASKS: Readonly<Record<Listed, readonly (readonly string[])[]>> = {
  project: [[], ['*', 'owner']],
  task: [[], [], ['*', 'project', 'lead', 'after.project.owner']],
  step: [[]],
}

const listOf = (type: Listed): fc.Arbitrary<List> =>
  fc.record({
    type: fc.constant(type),
    filter: fc.oneof({ weight: 4, arbitrary: filterOf(type) }, { weight: 1, arbitrary: fc.constant('') }),
    orderBy: type === 'step' ? fc.constant('') : orderOf(type),
    pageSize: fc.constantFrom(1, 2, 50),
    showDeleted: type === 'task' ? fc.boolean() : fc.constant(false),
    mask: fc.constantFrom(...MASKS[type]),
  })

export const lists: fc.Arbitrary<List> = fc.oneof(
  { weight: 6, arbitrary: listOf('task') },
  { weight: 3, arbitrary: listOf('project') },
  { weight: 2, arbitrary: listOf('step') },
)
