import { expect } from 'chai'
import type { DeclaredRules } from '../../../lib/openapi/rules/declared-rules.js'
import { jsonPattern, quotedPattern } from '../../../lib/openapi/rules/json-pattern.js'
import { rulesSchema } from '../../../lib/openapi/rules/rules-schema.js'

const rules = (
  kind: string,
  set: Readonly<Record<string, unknown>>,
  more: Partial<DeclaredRules> = {},
): DeclaredRules => ({
  ...{ required: false, ignore: 'never', kind, set: new Map(Object.entries(set)), expressions: [] },
  ...more,
})
const STATES = new Map([
  [0, 'UNKNOWN'],
  [1, 'ON'],
  [2, 'OFF'],
])

describe('rules of buf.validate', () => {
  // kind, rules, JSON Schema, whether zero breaks them
  for (const [kind, set, schema, refusesZero] of [
    ['string', { min_len: 1n, max_len: 5n }, { minLength: 1, maxLength: 5 }, true],
    ['string', { max_len: 5n }, { maxLength: 5 }, false],
    ['string', { len: 3n }, { minLength: 3, maxLength: 3 }, true],
    ['string', { pattern: '^[A-Z]+$' }, { pattern: '^[A-Z]+$' }, true],
    ['string', { pattern: '^[A-Z]*$' }, { pattern: '^[A-Z]*$' }, false],
    ['string', { prefix: 'a.b' }, { pattern: '^a\\.b' }, true],
    ['string', { suffix: '/' }, { pattern: '\\/$' }, true],
    ['string', { contains: '+' }, { pattern: '\\+' }, true],
    ['string', { not_contains: 'x' }, { not: { pattern: 'x' } }, false],
    ['string', { in: ['a', ''] }, { enum: ['a', ''] }, false],
    ['string', { in: ['a', 'b'] }, { enum: ['a', 'b'] }, true],
    ['string', { not_in: ['a'] }, { not: { enum: ['a'] } }, false],
    ['string', { not_in: [''] }, { not: { enum: [''] } }, true],
    ['string', { email: true }, { format: 'email' }, true],
    ['string', { uuid: true }, { format: 'uuid' }, true],
    ['string', { email: false }, {}, false],
    ['int32', { gte: 0, lte: 8 }, { minimum: 0, maximum: 8 }, false],
    ['int32', { gt: 0 }, { exclusiveMinimum: 0 }, true],
    ['double', { lt: 0 }, { exclusiveMaximum: 0 }, true],
    ['uint32', { const: 7 }, { const: 7 }, true],
    ['float', { finite: true }, {}, false],
    ['bool', { const: true }, { const: true }, true],
    ['bool', { const: false }, { const: false }, false],
    ['enum', { in: [1, 2] }, { enum: ['ON', 'OFF', 1, 2] }, true],
    ['enum', { not_in: [0] }, { not: { enum: ['UNKNOWN', 0] } }, true],
    ['enum', { const: 0 }, { enum: ['UNKNOWN', 0] }, false],
    ['enum', { defined_only: true }, {}, false],
    [
      'repeated',
      { min_items: 1n, max_items: 3n, unique: true },
      { minItems: 1, maxItems: 3, uniqueItems: true },
      true,
    ],
    ['map', { min_pairs: 0n, max_pairs: 3n }, { minProperties: 0, maxProperties: 3 }, false],
  ] as const)
    it(`${kind} ${JSON.stringify(set, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))} are ${JSON.stringify(schema)}`, () => {
      const mapped = rulesSchema(rules(kind, set), STATES)
      expect(mapped.schema).to.deep.equal(schema)
      expect(mapped.refusesZero).to.equal(refusesZero)
      if (Object.keys(schema).length > 0) expect(mapped.texts).to.deep.equal([])
    })

  // Those that JSON Schema does not say exactly are told in words.
  for (const [kind, set, text] of [
    ['int64', { gte: 1n }, 'Rule: int64.gte = "1".'],
    ['int32', { gt: 10, lt: 5 }, 'Rule: int32.gt = 10.'],
    ['bytes', { max_len: 5n }, 'Rule: bytes.max_len = "5".'],
    ['string', { max_bytes: 5n }, 'Rule: string.max_bytes = "5".'],
    ['string', { pattern: '^\\p{L}+$' }, 'Rule: string.pattern = "^\\\\p{L}+$".'],
    ['enum', { in: [9] }, 'Rule: enum.in = [9].'],
    ['timestamp', { lt_now: true }, 'Rule: timestamp.lt_now = true.'],
  ] as const)
    it(`${kind} ${text} in words`, () => {
      const mapped = rulesSchema(rules(kind, set), STATES)
      expect(mapped.schema).to.deep.equal({})
      expect(mapped.texts[0]).to.equal(text)
    })

  it('tells a rule in words whose keyword another one has', () => {
    const { schema, texts } = rulesSchema(rules('string', { prefix: 'a', suffix: 'b' }))
    expect([schema, texts]).to.deep.equal([{ pattern: '^a' }, ['Rule: string.suffix = "b".']])
  })

  it('says nothing of rules that are never evaluated, and tells those that zero need not keep', () => {
    expect(rulesSchema(rules('string', { min_len: 3n }, { ignore: 'always' })).schema).to.deep.equal({})
    const { schema, texts, refusesZero } = rulesSchema(
      rules('string', { min_len: 3n }, { ignore: 'if zero' }),
    )
    expect([schema, refusesZero]).to.deep.equal([{}, false])
    expect(texts).to.deep.equal([
      'Rule: string.min_len = "3".',
      'These rules do not apply to the zero value.',
    ])
  })

  it('tells expressions', () => {
    expect(rulesSchema(rules('string', {}, { expressions: ['no digits'] })).texts).to.deep.equal([
      'Rule: no digits.',
    ])
  })
})

describe('a pattern of RE2', () => {
  for (const source of ['^[a-z][a-z0-9-]{0,62}$', '\\d+\\.\\d*', '(?:a|b)c?', '[^/.]+', '^\\w+\\b'])
    it(`${source} is one of JSON Schema`, () => {
      expect(jsonPattern(source)).to.equal(source)
    })

  for (const source of [
    '(?i)abc',
    '(?P<name>a)',
    '[[:alpha:]]',
    '\\pL',
    '\\Aa\\z',
    'a.c',
    '\\s+',
    '\\Qa\\E',
    'a++',
    '\\x{10FFFF}',
    '(?s:a)',
  ])
    it(`${source} is told in words`, () => {
      expect(jsonPattern(source)).to.equal(undefined)
    })

  it('quotes every character that means something', () => {
    const text = '^$.*+?()[]{}|/\\-a'
    expect(new RegExp(`^${quotedPattern(text)}$`, 'u').test(text)).to.equal(true)
  })
})
