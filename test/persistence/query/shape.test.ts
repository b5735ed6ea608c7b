import { expect } from 'chai'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { parseOrderTerms } from '../../../lib/persistence/query/order-by.js'
import { shapeOf, shapeOfOrder } from '../../../lib/persistence/query/shape.js'
import { COLUMNS } from './specimen-rows.js'

const shape = (filter: string): string => shapeOf(parseFilterPlan(filter, COLUMNS))

describe('shapeOf', () => {
  const same: readonly (readonly [a: string, b: string])[] = [
    ['', ' '],
    ['small = 1', 'small=2'],
    ['name = "a"', 'name = "b\\"; --"'],
    ['tags.a = "x"', 'tags."b.c" = "y"'],
    ['small = 1 AND big = 2', '(small = 3) big = 4'],
    ['(small = 1 AND big = 2) AND big = 3', 'small = 1 AND (big = 2 AND big = 3)'],
    ['NOT NOT tags:a', 'has(tags.b)'],
  ]
  for (const [a, b] of same) it(`is the same for ${a} and ${b}`, () => expect(shape(a)).to.equal(shape(b)))

  it('differs where the text of a statement differs', () => {
    const filters = [
      ...[
        'small = 1',
        'small != 1',
        'small < 1',
        'small <= 1',
        'big = 1',
        'NOT small = 1',
        'note = null',
        'note != null',
      ],
      ...['name = "x"', 'name:"x"', 'tags.a = "x"', 'tags.a:"x"', 'tags:a', 'tags = null', 'NOT tags:a'],
      ...['small = 1 big = 1', 'small = 1 OR big = 1', 'big = 1 OR small = 1', 'small = 1 big = 1 big = 1'],
      ...[
        'small = 1 OR (big = 1 AND big = 1)',
        '(small = 1 OR big = 1) AND big = 1',
        '-(small = 1 big = 1)',
        '-small = 1 big = 1',
      ],
    ]
    expect(new Set(filters.map(shape)).size).to.equal(filters.length)
    const orders = ['small', 'small desc', 'big', 'small, big', 'big, small', 'small desc, big'].map(
      (orderBy) => shapeOfOrder(parseOrderTerms(orderBy, COLUMNS)),
    )
    expect(new Set(orders).size).to.equal(orders.length)
  })

  it('keeps no literal', () => {
    expect(
      shape('name = "canary" OR name:"canary" OR tags."canary" = "canary" OR tags:canary'),
    ).to.not.contain('canary')
  })
})
