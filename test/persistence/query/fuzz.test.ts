import { expect } from 'chai'
import fc from 'fast-check'
import { InvalidArgument } from '../../../lib/errors.js'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { parseOrderTerms } from '../../../lib/persistence/query/order-by.js'
import { toOrderBy } from '../../../lib/persistence/dialects/to-order-by.js'
import type { FilterNode, PlanColumn, PlanValue } from '../../../lib/persistence/query/query-plan.js'
import { toPredicate } from '../../../lib/persistence/dialects/to-predicate.js'
import { drill } from '../../support/drill.js'
import { filters } from './specimen-filters.js'
import { COLUMNS, FIELDS } from './specimen-rows.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const DIALECTS = ['postgres', 'mysql', 'mariadb', 'sqlite'] as const

const pieces = fc.constantFrom(
  ...[...FIELDS, 'tags.a', 'tags."x y"', 'has(', 'size', '__proto__', 'constructor', 'hasOwnProperty'],
  ...[
    '=',
    '!=',
    '<',
    '<=',
    '>',
    '>=',
    ':',
    '==',
    '<>',
    '!',
    '~',
    '(',
    ')',
    '.',
    ',',
    '-',
    '--',
    '*',
    ';',
    '/*',
    '#',
  ],
  ...[
    'AND',
    'or',
    'NOT',
    'null',
    'true',
    'ACTIVE',
    'x',
    '0',
    '1',
    '-1',
    '1.5',
    '1e9',
    '99999999999999999999',
    '1.5s',
  ],
  ...[
    '"',
    '"x"',
    '"a\\"b"',
    '"\\',
    '\\',
    '"\\u00',
    "'",
    "' OR 1=1 --",
    '"; DROP TABLE specimens; --"',
    '"2024-01-01T00:00:00Z"',
  ],
  ...[
    '\0',
    '\ud800',
    '\udc00',
    '😀',
    '\uffff',
    '\u2028',
    '\u00a0',
    '\n',
    '\t',
    '$1',
    '?',
    '`',
    '{x}',
    '%',
    '%s',
  ],
)
const soup = fc
  .array(pieces, { maxLength: 14 })
  .chain((words) => fc.constantFrom(words.join(' '), words.join('')))

/** A filter that parses, with a piece put in or a stretch taken out. */
const damaged = fc
  .tuple(filters, fc.nat(), fc.nat({ max: 4 }), fc.oneof(fc.constant(''), pieces))
  .map(([filter, at, length, piece]) => {
    const from = at % (filter.length + 1)
    return filter.slice(0, from) + piece + filter.slice(from + length)
  })

const texts = fc.oneof(
  soup,
  damaged,
  filters,
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 60 }),
)

/** The same plan with other values. */
const revalued = (node: FilterNode): FilterNode => {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { ...node, nodes: node.nodes.map(revalued) }
    case 'not':
    case 'some':
      return { ...node, node: revalued(node.node) }
    case 'compare':
      return {
        ...node,
        key: node.key === undefined ? undefined : otherKey(node.key),
        value: other(node.column, node.value),
      }
    case 'contains':
      return { ...node, key: node.key === undefined ? undefined : otherKey(node.key), value: 'canary' }
    case 'has':
      return { ...node, key: otherKey(node.key) }
    case 'element':
      return { ...node, value: typeof node.value === 'string' ? 'canary' : node.value }
    case 'among':
    case 'null':
    case 'row':
      return node
  }
}

/** MariaDB has another way to a key that begins with `-`; beyond that no text depends on a key. */
const otherKey = (key: string): string => (key.startsWith('-') ? '-canary' : 'canary')

const other = (column: PlanColumn, value: PlanValue): PlanValue => {
  if (column.kind === 'timestamp') return new Date(1e12)
  if (typeof value === 'string') return 'canary'
  if (typeof value === 'bigint') return 4242424242n
  if (typeof value === 'number') return 424242
  return typeof value === 'boolean' ? !value : Buffer.from('canary')
}

/** The position that every refusal names lies within the text, or just behind it. */
const isRefusal = (error: unknown, field: string, text: string): void => {
  expect(error, text).to.be.instanceOf(InvalidArgument).with.property('field', field)
  const position = / at position (\d+)/.exec((error as InvalidArgument).message)?.[1]
  expect(Number(position), (error as InvalidArgument).message).to.be.within(1, [...text].length + 1)
}

describe('fuzzed text', () => {
  it('as a filter is a plan or is refused with a position; no value reaches the text of a statement', () => {
    let parsed = 0
    fc.assert(
      fc.property(texts, (text) => {
        let plan: FilterNode | undefined
        try {
          plan = parseFilterPlan(text, COLUMNS)
        } catch (error) {
          return isRefusal(error, 'filter', text)
        }
        if (plan === undefined) return
        parsed++
        const twin = revalued(plan)
        for (const dialect of DIALECTS) {
          const [params, others]: [unknown[], unknown[]] = [[], []]
          const sql = toPredicate(plan, dialectNamed(dialect), params)
          expect(sql, text)
            .to.equal(toPredicate(twin, dialectNamed(dialect), others))
            .and.not.contain('canary')
          const placeholders = sql.replace(/"[^"]*"|`[^`]*`|'[^']*'/g, '').match(/\?|\$\d+/g) ?? []
          expect(placeholders, sql).to.have.lengthOf(params.length)
        }
      }),
      { numRuns: drill(10_000, 200_000) },
    )
    expect(parsed).to.be.greaterThan(drill(1_000, 20_000))
  })

  it('as an order is a list of terms or is refused with a position', () => {
    const words = fc.constantFrom(
      ...FIELDS,
      'asc',
      'DESC',
      'down',
      ',',
      ', ',
      ' ',
      '\t',
      ';',
      '"id"',
      '__proto__',
      '\0',
      '\ud800',
      '😀',
      '1',
    )
    const orders = fc.oneof(
      fc.array(words, { maxLength: 10 }).map((drawn) => drawn.join(' ')),
      fc.array(words, { maxLength: 10 }).map((drawn) => drawn.join('')),
      fc.string({ unit: 'binary', maxLength: 40 }),
    )
    fc.assert(
      fc.property(orders, (text) => {
        try {
          const terms = parseOrderTerms(text, COLUMNS)
          const known = FIELDS.map((name) => `"${COLUMNS[name].column}"`)
          for (const part of toOrderBy(terms, dialectNamed('postgres')).split(', ').filter(Boolean)) {
            expect(known).to.include(part.replace(/( DESC)?( NULLS (LAST|FIRST))?$/, ''))
          }
        } catch (error) {
          isRefusal(error, 'order_by', text)
        }
      }),
      { numRuns: drill(10_000, 200_000) },
    )
  })
})
