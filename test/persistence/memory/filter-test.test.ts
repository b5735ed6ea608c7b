import { expect } from 'chai'
import { byCodePoint } from '../../../lib/text/code-point-order.js'
import { compareBy } from '../../../lib/persistence/memory/compare-by.js'
import { toTest } from '../../../lib/persistence/memory/filter-test.js'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { keysetPredicate } from '../../../lib/persistence/query/keyset.js'
import { parseOrderTerms } from '../../../lib/persistence/query/order-by.js'
import { and } from '../../../lib/persistence/query/query-plan.js'
import { COLUMNS, type Row, everyValue, read } from '../query/specimen-rows.js'

const NOTHING: Row = {
  ...{ id: 'r', name: 'n', small: 1, note: undefined, flag: undefined, count: undefined, big: undefined },
  ...{
    huge: undefined,
    ratio: undefined,
    weight: undefined,
    state: undefined,
    at: undefined,
    span: undefined,
  },
  ...{ data: undefined, tags: undefined },
}
const ROW: Row = {
  ...NOTHING,
  flag: true,
  big: 2n ** 53n + 1n,
  state: 2,
  tags: { a: 'x ', __proto__x: 'y' },
  note: 'Ab%',
}

describe('toTest', () => {
  const cases: readonly (readonly [filter: string, row: Row, matches: boolean])[] = [
    ['note = "x"', NOTHING, false],
    ['NOT note = "x"', NOTHING, false],
    ['note != "x"', NOTHING, false],
    ['note = null', NOTHING, true],
    ['note != null', NOTHING, false],
    ['note = "x" OR small = 1', NOTHING, true],
    ['NOT (note = "x" OR small = 2)', NOTHING, false],
    ['NOT (note = "x" AND small = 2)', NOTHING, true],
    ['NOT (note = "x" AND small = 1)', NOTHING, false],
    ['note:"x"', NOTHING, false],
    ['NOT note:"x"', NOTHING, false],
    ['tags:a', NOTHING, false],
    ['NOT tags:a', NOTHING, true],
    ['NOT tags.a = "x"', NOTHING, false],
    ['tags.a = null', NOTHING, true],
    ['tags:a', ROW, true],
    ['tags:constructor', ROW, false],
    ['tags:__proto__', ROW, false],
    ['tags.toString = null', ROW, true],
    ['tags.a = "x"', ROW, false],
    ['tags.a = "x "', ROW, true],
    ['tags.a:" "', ROW, true],
    ['tags.b != "x"', ROW, false],
    ['big = 9007199254740993', ROW, true],
    ['big = 9007199254740992', ROW, false],
    ['state = PAUSED', ROW, true],
    ['state != ACTIVE', ROW, true],
    ['note:"b%"', ROW, true],
    ['note:"a"', ROW, false],
    ['note:""', ROW, true],
    ['flag = true', ROW, true],
  ]
  for (const [filter, row, matches] of cases) {
    it(`${filter} ${matches ? 'finds' : 'does not find'} ${row === ROW ? 'a row with values' : 'a row of NULLs'}`, () => {
      const plan = parseFilterPlan(filter, COLUMNS) ?? and()
      expect(toTest(plan, read)(row)).to.equal(matches)
    })
  }
})

describe('byCodePoint', () => {
  it('orders as UTF-8 bytes do', () => {
    const texts = everyValue.map(({ name }) => String(name))
    for (const a of texts) {
      for (const b of texts) {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
        expect(Math.sign(byCodePoint(a, b)), JSON.stringify([a, b])).to.equal(bytes)
      }
    }
  })
})

describe('keysetPredicate', () => {
  const orders = [
    'id',
    'id desc',
    'note, id',
    'note desc, id',
    'note, id desc',
    'small, state desc, id',
    'tags',
  ]
  for (const orderBy of orders.slice(0, -1)) {
    it(`finds exactly what follows each row by ${orderBy}`, () => {
      const terms = parseOrderTerms(orderBy, COLUMNS)
      const sorted = [...everyValue].sort(compareBy(terms, read))
      for (const [i, row] of sorted.entries()) {
        const values = terms.map(({ column }) => {
          const value = read(row, column)
          return column === COLUMNS.state && value !== undefined
            ? COLUMNS.state.enumNames.nameOf.get(value as number)
            : value
        })
        const after = keysetPredicate(terms, values.map((value) => value ?? null) as never)
        expect(sorted.filter(toTest(after, read))).to.deep.equal(sorted.slice(i + 1))
      }
    })
  }
})
