import { create, createRegistry, type DescMessage, type Message } from '@bufbuild/protobuf'
import { createValidator } from '@bufbuild/protovalidate'
import { expect } from 'chai'
import { type FieldViolation, InvalidArgument } from '../../../lib/errors.js'
import { expressionCost } from '../../../lib/server/validation/expression-cost.js'
import { loadMessageRules, type RuleCheck } from '../../../lib/server/validation/protovalidate.js'
import { Violations } from '../../../lib/server/validation/violations.js'
import { file_sizes as file, SizesService, UpdateSizesRequestSchema } from '../../support/gen/sizes_pb.js'
import { recordingLogger } from '../../support/servers/server.js'

const MANY = 100_000

const texts = (count: number) => Array.from({ length: count }, (_one, i) => `k${i}`)
const parts = (count: number) => texts(count).map((id) => ({ id }))
const entries = (count: number) => Object.fromEntries(texts(count).map((key) => [key, key]))
const letters = (count: number) => 'a'.repeat(count)
const bytes = (count: number) => new Uint8Array(count).fill(97)

const violationsOf = ({ details }: InvalidArgument): readonly FieldViolation[] =>
  details.flatMap((one) => (one.kind === 'badRequest' ? one.violations : []))

const reasonOf = (rule: string): string => rule.toUpperCase().replace('.', '_')

/** A message of the oneof, and what it holds with so many of its elements or characters. */
type Kind = readonly [name: string, held: (count: number) => unknown]

describe('the work of rules of buf.validate', () => {
  let check: RuleCheck

  before(async () => {
    const redaction = { isSecret: () => false, types: createRegistry() }
    const { rules, problems } = await loadMessageRules([SizesService], redaction, recordingLogger())
    expect(problems).to.deep.equal([])
    check = rules?.checkOf(UpdateSizesRequestSchema) as RuleCheck
  })

  const descOf = (name: string): DescMessage => file.messages.find((one) => one.name === name) as DescMessage
  const caseOf = (name: string) => `${name[0]?.toLowerCase()}${name.slice(1)}`
  const requestOf = (name: string, value: Record<string, unknown>, paths: readonly string[] = []): Message =>
    create(UpdateSizesRequestSchema, {
      sizes: { of: { case: caseOf(name), value: create(descOf(name), value) } as never },
      ...(paths.length > 0 && { updateMask: { paths: [...paths] } }),
    })

  const verdict = (name: string, value: Record<string, unknown>, paths?: readonly string[]): unknown => {
    try {
      const violations = new Violations()
      check(requestOf(name, value, paths), [])(violations)
      violations.refuse()
      return 'kept'
    } catch (error) {
      if (!(error instanceof InvalidArgument)) throw error
      const violations = violationsOf(error)
      if (violations.some(({ reason }) => reason !== undefined))
        return violations.map(({ field, reason }) => [field.replace(/^sizes\.\w+/, ''), reason])
      expect(error.message).to.match(
        /^sizes\..* is too large for its rules to be evaluated|is too large to name/,
      )
      return `too much: ${error.field.replace(/^sizes\.\w+/, '')}`
    }
  }

  const limited: readonly (readonly [...Kind, rule: string])[] = [
    ['MaxItems', parts, 'repeated.max_items'],
    ['MaxItemsBeforeAll', texts, 'repeated.max_items'],
    ['MaxPairs', entries, 'map.max_pairs'],
    ['MaxLen', letters, 'string.max_len'],
    ['Len', letters, 'string.len'],
    ['MaxBytes', letters, 'string.max_bytes'],
    ['LenBytes', letters, 'string.len_bytes'],
    ['MaxLenOfBytes', bytes, 'bytes.max_len'],
    ['LenOfBytes', bytes, 'bytes.len'],
    ['MaxLenOfWrapped', letters, 'string.max_len'],
  ]
  for (const [name, held, rule] of limited)
    it(`of ${name} is a look at the size alone, for ${MANY}`, () => {
      const value = { held: held(MANY), note: 'too long', others: texts(MANY) }
      expect(verdict(name, value)).to.deep.equal([['.held', reasonOf(rule)]])
      // Where the mask leaves it out, the others are evaluated as far as they may.
      const masked = verdict(name, value, ['free'])
      expect(masked === 'kept' || String(masked).startsWith('too much'), String(masked)).to.equal(true)
    })

  for (const [name, held, rule] of limited)
    it(`says of ${name} what protovalidate says`, () => {
      const { violations = [] } = createValidator({ registry: createRegistry(file) }).validate(
        descOf(name),
        create(descOf(name), { held: held(1001) as never }),
      )
      const said = violations.find(({ ruleId }) => ruleId === rule)?.message
      try {
        check(requestOf(name, { held: held(1001) }), [])
        expect.fail('is kept')
      } catch (error) {
        expect(violationsOf(error as InvalidArgument).map(({ description }) => description)).to.deep.equal([
          said,
        ])
      }
    })

  it('tells of each list that is too long, as many as an error holds', () => {
    const held = parts(MANY).map((part) => ({ ...part, tags: texts(4) }))
    const told = verdict('Nested', { held }) as unknown[]
    expect(told.slice(0, 2)).to.deep.equal([
      ['.held[0].tags', 'REPEATED_MAX_ITEMS'],
      ['.held[1].tags', 'REPEATED_MAX_ITEMS'],
    ])
    expect(told.length).to.be.within(40, 100)
  })

  it('tells all rules of a text that is a little too long', () => {
    expect(verdict('MaxLen', { held: `${letters(20)}b` })).to.deep.equal([
      ['.held', 'STRING_MAX_LEN'],
      ['.held', 'STRING_PATTERN'],
    ])
  })

  const unlimited: readonly (readonly [...Kind, few: number, many?: number])[] = [
    ['UniqueInExpression', parts, 300],
    ['Filtered', texts, 900],
    ['All', texts, 10_000],
    ['AllOfMap', entries, 10_000],
    ['AllInMessage', texts, 10_000],
    ['EachExpression', texts, 10_000],
    ['EachLength', (count) => texts(count).map((text) => text.slice(0, 3)), 10_000],
    ['EachUri', (count) => texts(count).map((text) => `https://a.example/${text}`), 10_000],
    ['EachNumber', (count) => texts(count).map((_one, i) => i), 10_000],
    ['Unique', texts, 10_000],
    ['UniqueMessages', (count) => texts(count).map((_one, value) => ({ value })), 300],
    ['Predefined', texts, 900],
    ['Keys', entries, 10_000],
    ['Values', entries, 10_000],
    ['Split', (count) => letters(count).replaceAll('aa', 'a,'), 900],
    ['Pattern', letters, 10_000, 10 * MANY],
  ]
  for (const [name, held, few, many = MANY + 1] of unlimited) {
    it(`of ${name} is done for ${few}`, () => {
      expect(verdict(name, { held: held(few) })).to.equal('kept')
    })

    it(`of ${name} is refused for ${many}`, () => {
      expect(verdict(name, { held: held(many) })).to.match(/^too much: (\.held|$)/)
    })
  }

  it('names the bytes to which no pattern can be applied, because they are not UTF-8', () => {
    const request = requestOf('MaxLenOfBytes', { held: new Uint8Array([0xff]) })
    expect(() => check(request, [])(new Violations())).to.throw(
      InvalidArgument,
      'sizes.max_len_of_bytes.held: must be valid UTF-8',
    )
  })

  it('is nothing without a rule that looks into it', () => {
    expect(verdict('Free', { held: texts(MANY) })).to.equal('kept')
  })

  const costs: readonly (readonly [expression: string, degree: number, splits?: true])[] = [
    ["this != ''", 0],
    ["this in ['a', 'b']", 0],
    ['this.x in this.list', 1],
    ["this.all(x, x != '')", 1],
    ['this.exists_one(x, x > 1) || this.list.existsOne(x, x > 1)', 1],
    ['this.map(x, x.id)', 2],
    ['this.filter(x, x.id > 1).all(x, true)', 2],
    ['this.unique()', 2],
    ['this.all(x, x.parts.all(y, y.ok))', 1],
    ['this.all(x, x.parts[0].more().all(y, y.ok))', 1],
    ['this.all(x, this.all(y, x != y))', 2],
    ['this.all(x, x.parts.map(y, y.id).unique())', 2],
    ['this.all(x, this.map(y, y.id).unique())', 3],
    ['this.all(x, (x.a + x.b).all(y, y in this.c))', 3],
    ["this.note != 'x.all(y, this.map(z, z))' // this.map(x, x)", 0],
    ["this.split(',').all(x, x != '')", 1, true],
    ['this.all(', 1],
  ]
  for (const [expression, degree, splits = false] of costs)
    it(`grows by degree ${degree} for ${expression}`, () => {
      expect(expressionCost(expression)).to.deep.equal({ degree, splits })
    })
})
