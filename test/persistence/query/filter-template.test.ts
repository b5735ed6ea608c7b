import { create } from '@bufbuild/protobuf'
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import fc from 'fast-check'
import { InvalidArgument } from '../../../lib/errors.js'
import { parseFilterPlan } from '../../../lib/persistence/query/filter.js'
import { filter, type FilterValue } from '../../../lib/persistence/query/filter-template.js'
import { drill } from '../../support/drill.js'

const columns = {
  title: 'title',
  size: 'size',
  tags: { column: 'tags', kind: 'tags', nullable: false },
} as const

describe('filter`…`', () => {
  for (const [written, expected] of [
    [filter`title = ${'x'}`, 'title = "x"'],
    [filter`title = ${'a "b" \\ c\n'} AND size > ${3}`, 'title = "a \\"b\\" \\\\ c\\n" AND size > 3'],
    [filter`size=${-3}`, 'size=-3'],
    [filter`size <${-0.5}`, 'size <-0.5'],
    [filter`(size = ${1e21})`, '(size = 1e+21)'],
    [filter`size = ${-0}`, 'size = 0'],
    [filter`size = ${2n ** 63n}`, 'size = 9223372036854775808'],
    [filter`size = ${true}`, 'size = true'],
    [filter`size != ${null}`, 'size != null'],
    [filter`t > ${new Date('2030-01-01T00:00:00.001Z')}`, 't > "2030-01-01T00:00:00.001Z"'],
    [
      filter`t > ${create(TimestampSchema, { seconds: 1n, nanos: 2_000_000 })}`,
      't > "1970-01-01T00:00:01.002Z"',
    ],
    [filter`d = ${create(DurationSchema, { seconds: -1n, nanos: -500_000_000 })}`, 'd = "-1.500000000s"'],
    [filter`b = ${Uint8Array.of(1, 2)}`, 'b = "AQI="'],
    [filter`tags.${'a.b'} = ${'x'}`, 'tags."a.b" = "x"'],
    [filter`${filter`a = ${1}`} OR NOT ${filter`b = ${2}`}`, '(a = 1) OR NOT (b = 2)'],
    [filter`(${filter`a = ${1}`}) AND b = 1`, '((a = 1)) AND b = 1'],
    [filter`title = "plain"`, 'title = "plain"'],
    [filter``, ''],
  ] as const)
    it(expected, () => expect(written).to.equal(expected))

  for (const [what, write] of [
    ['the place of a field', () => filter`${'title'} = ${'x'}`],
    ['a part of a field', () => filter`ti${'tle'} = "x"`],
    ['the place of an operator', () => filter`size ${'>'} 3`],
    ['the place of AND', () => filter`size = 3 ${'AND'} size = 4`],
    ['quotes', () => filter`title = "${'x'}"`],
    ['a part of a string', () => filter`title = "x${'y'}z"`],
    ['a part of a number', () => filter`size = ${1}0`],
    ['a part of a number, behind it', () => filter`size = 1${0}`],
    ['behind another value', () => filter`title = ${'x'}${'y'}`],
    ['a call of has', () => filter`has(${'tags.x'})`],
    ['a condition that compares', () => filter`${filter`a = 1`} = ${1}`],
    ['behind a condition without AND', () => filter`a = 1 ${filter`b = 1`}`],
    ['before a condition without AND', () => filter`${filter`b = 1`} a = 1`],
    ['a minus', () => filter`size = -${5}`],
  ] as const)
    it(`refuses a value in ${what}`, () => expect(write).to.throw(TypeError, /^filter: /))

  for (const value of [
    ...[undefined, NaN, Infinity, -Infinity, new Date(NaN), Symbol('x'), () => 'x', {}, [], ['x']],
    ...[{ toString: () => '"x" OR 1=1' }, { $typeName: 'google.protobuf.Any' }, new Map()],
  ] as unknown[])
    it(`refuses ${typeof value === 'object' ? JSON.stringify(value) : String(value)} as a value`, () =>
      expect(() => filter`title = ${value as FilterValue}`).to.throw(TypeError, /^filter: /))

  for (const value of [1, null, new Date(), ['a = 1'], undefined, { toString: () => 'a = 1' }])
    it(`refuses ${JSON.stringify(value)} as a condition or a key`, () => {
      expect(() => filter`${value as FilterValue} AND size = 1`).to.throw(TypeError)
      expect(() => filter`tags.${value as FilterValue} = "x"`).to.throw(TypeError)
    })

  for (const text of ['', ' ', 'a = 1) OR (b = 1', '(a = 1', 'a = 1)', 'a = "', 'a = 1;', ')('])
    it(`refuses the condition ${JSON.stringify(text)}, which is not a whole filter`, () =>
      expect(() => filter`${text} AND size = ${1}`).to.throw(InvalidArgument))

  it('leaves one comparison with the value as it is, whatever the value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (value) => {
        const text = filter`title = ${value}`
        if (value.includes('\0') || !value.isWellFormed())
          expect(() => parseFilterPlan(text, columns)).to.throw(InvalidArgument)
        else expect(parseFilterPlan(text, columns)).to.deep.include({ kind: 'compare', op: '=', value })
      }),
      { numRuns: drill(300, 100_000) },
    )
  })

  it('puts no condition beyond its parentheses, whatever its text', () => {
    const pieces = fc.constantFrom(
      'a = 1',
      '(',
      ')',
      'AND',
      'OR',
      'NOT',
      '"',
      '"x"',
      '\\',
      '-',
      '.',
      ' ',
      'size = 2',
      "'",
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const inner = parts.join(' ')
        let plan
        try {
          plan = parseFilterPlan(filter`${inner} AND size = ${1}`, { ...columns, a: 'a' })
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidArgument)
          return
        }
        const alone = parseFilterPlan(inner, { ...columns, a: 'a' })
        const held = { kind: 'and', nodes: [...(alone?.kind === 'and' ? alone.nodes : [alone]), SIZE] }
        expect(plan).to.deep.equal(held)
      }),
      { numRuns: drill(300, 100_000) },
    )
  })
})

const SIZE = {
  kind: 'compare',
  column: { column: 'size', kind: 'any', nullable: true },
  key: undefined,
  op: '=',
  value: 1,
}
