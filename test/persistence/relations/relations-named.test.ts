import { expect } from 'chai'
import fc from 'fast-check'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import { planPage } from '../../../lib/persistence/relations/plan-page.js'
import { relationsNamed } from '../../../lib/persistence/relations/relations-named.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { drill } from '../../support/drill.js'
import { Task } from '../../support/entities/plans.js'

const RUNS = drill(300, 300_000)

const model = resourceModel<object>(Task)
const namedIn = relationsNamed(model)
const named = (filter: string, orderBy = '') => namedIn({ filter, orderBy }).map(({ path }) => path)

/** Every path of relations, as a list may be led through them. */
const everyPath = (inside = model, before: readonly string[] = []): string[] =>
  inside.relations.flatMap(({ property, target }) => {
    const path = [...before, property]
    return [path.join('.'), ...(path.length < 3 ? everyPath(resourceModel<object>(target()), path) : [])]
  })
const EVERY = everyPath()

const context = new RequestContext({ principal: { subject: 'ada', tenant: 'acme', groups: [], scopes: [] } })
/** What a list makes of the text: how many relations its plan joins, or its error. */
const planned = (filter: string, orderBy: string, through: readonly string[]): string => {
  try {
    const plan = planPage(model, { filter, orderBy }, { context, tenant: 'acme' }, {}, { through })
    return JSON.stringify([plan.filter, plan.terms], (key, value: unknown) =>
      key === 'target' ? undefined : typeof value === 'bigint' ? String(value) : value,
    )
  } catch (error) {
    if (!(error instanceof AshlarError)) throw error
    return error.message
  }
}

const WORDS = [
  ...[
    'project',
    'steps',
    'owner',
    'country',
    'tasks',
    'lead',
    'badge',
    'after',
    'title',
    'project_id',
    'done',
  ],
  ...['phase', 'ACTIVE', 'labels', 'nosuch', 'NOT', 'not', 'AND', 'OR', 'or', 'has', 'null', 'true', 'é'],
]
const MARKS = [
  '.',
  '.',
  '.',
  '=',
  '!=',
  ':',
  '<',
  '>=',
  '*',
  '(',
  ')',
  '-',
  ',',
  '"project.title"',
  '"',
  '1.5',
  "'",
]
const text = fc
  .array(fc.tuple(fc.constantFrom(...WORDS, ...MARKS), fc.constantFrom('', ' ', ' ', '\n')), {
    maxLength: 14,
  })
  .map((parts) => parts.map(([part, space]) => part + space).join(''))
const path = fc
  .array(fc.constantFrom(...WORDS.slice(0, 12)), { minLength: 1, maxLength: 4 })
  .map((names) => names.join('.'))
const comparison = fc
  .tuple(path, fc.constantFrom(' = "x"', ':*', ' = null', ':"x"', ' = true', ' > "a"', ' != project'))
  .map(([left, right]) => left + right)
const valid = fc
  .array(fc.tuple(fc.constantFrom('', 'NOT ', '-'), comparison), { minLength: 1, maxLength: 4 })
  .map((terms) => terms.map(([not, term]) => not + term).join(' AND '))
const order = fc
  .array(fc.tuple(path, fc.constantFrom('', ' desc', '\tasc', '\u00a0')), { maxLength: 3 })
  .map((terms) => terms.map(([name, direction]) => name + direction).join(', '))

describe('the relations that a filter and an order name', () => {
  const rows: readonly (readonly [filter: string, orderBy: string, paths: readonly string[]])[] = [
    ['project.title = "a"', '', ['project']],
    ['NOT (steps:* OR project . owner . title = "a")', '', ['steps', 'project', 'project.owner']],
    ['title = "a"', 'project.title desc,lead.title', ['project', 'lead']],
    ['after.after.after.after.title = "a"', '', ['after', 'after.after', 'after.after.after']],
    ['has(project.labels.env) project:*', '', ['project']],
    ['title = "project.title" AND project_id = project', 'project_id', []],
    ['project.title = "a" AND (', '', ['project']],
    ['project.title = "a" AND title = "', '', ['project']],
    [`project."a"'`, '', ['project']],
    ['title.project = 1 AND nosuch.steps:*', 'nosuch.project', []],
    ['', '', []],
  ]
  for (const [filter, orderBy, paths] of rows)
    it(`are ${paths.join(', ') || 'none'} in ${filter || 'nothing'}${orderBy && `, ${orderBy}`}`, () => {
      expect(named(filter, orderBy)).to.deep.equal(paths)
    })

  it(`are all that a list would have followed, in ${RUNS} texts`, () => {
    let followed = 0
    fc.assert(
      fc.property(fc.oneof(text, valid), fc.oneof(order, text), (filter, orderBy) => {
        const found = named(filter, orderBy)
        if (found.length > 0) followed++
        expect(planned(filter, orderBy, found)).to.equal(planned(filter, orderBy, EVERY))
      }),
      { numRuns: RUNS },
    )
    expect(followed).to.be.at.least(RUNS / 10)
  })
})
