import fc from 'fast-check'
import { drilling } from '../../support/drill.js'
import { BYTES, type FieldName, INSTANTS, KEYS, NUMERIC, SPANS, TEXTS } from './specimen-rows.js'

/** Text as a filter spells it. */
export const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`

/** Literals that each column takes. */
const LITERALS: Readonly<Record<Exclude<FieldName, 'tags'>, readonly string[]>> = {
  id: ['"r0"', '"r1"', '"r10"', '"r2"', '"R2"'],
  name: TEXTS.map(quote),
  note: TEXTS.map(quote),
  flag: ['true', 'false'],
  small: NUMERIC.small.map(String),
  count: NUMERIC.count.map(String),
  big: NUMERIC.big.map(String),
  huge: [...NUMERIC.huge.map(String), '9223372036854775808', '18446744073709551615'],
  ratio: [...NUMERIC.ratio.map(String), '0.33333334', '16777217', '3.4028234e38', '1e38'],
  weight: [...NUMERIC.weight.map(String), '1e-5', '9007199254740993'],
  state: ['ACTIVE', 'PAUSED', 'active', '"ACTIVE"'],
  at: [
    ...INSTANTS.map((text) => `"${text}"`),
    '"2024-02-29T13:00:00.001999+01:00"',
    '"2024-02-29t12:00:00z"',
  ],
  span: [...SPANS.map((nanos) => `"${seconds(nanos)}"`), '1.5s', '"-0.000000001s"'],
  data: BYTES.map((bytes) => `"${Buffer.from(bytes).toString('base64')}"`),
}

function seconds(nanos: bigint): string {
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(10, '0')
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}s`
}

const EQUALITY = ['=', '!=']
const OPS = [...EQUALITY, '<', '<=', '>', '>=']

const comparisons = Object.entries(LITERALS).flatMap(([name, literals]) => {
  const ops = name === 'flag' || name === 'state' ? EQUALITY : OPS
  const nulls = EQUALITY.map((op) => `${name}${op}null`)
  return [...literals.flatMap((literal) => ops.map((op) => `${name} ${op} ${literal}`)), ...nulls]
})
const containments = ['name', 'note', 'tags.a'].flatMap((name) =>
  TEXTS.map((text) => `${name}:${quote(text)}`),
)
const tagged = [
  ...TEXTS.flatMap((text) => OPS.map((op) => `tags.a ${op} ${quote(text)}`)),
  ...KEYS.map(quote).flatMap((key) => [
    ...[`tags:${key}`, `has(tags.${key})`, `tags.${key} = null`, `tags.${key} != null`],
    ...[`tags.${key} = "a"`, `tags.${key}:"a"`, `tags.${key} >= "a"`],
  ]),
  ...['tags = null', 'tags != null'],
]

const all = [...comparisons, ...containments, ...tagged]

/** Every operator with every literal; in a drill each is negated as well. */
export const everyComparison = drilling ? [...all, ...all.map((filter) => `NOT ${filter}`)] : all

const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts)

/** Every column as likely as another, however many literals it has. */
const comparison = fc
  .constantFrom(...Object.keys(LITERALS))
  .chain((name) => pick(...comparisons.filter((filter) => /^\w+/.exec(filter)?.[0] === name)))

/** Filters that parse, about columns of every kind, nested a few levels. */
export const filters: fc.Arbitrary<string> = fc.letrec<{ filter: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    { weight: 5, arbitrary: comparison },
    { weight: 1, arbitrary: pick(...containments) },
    { weight: 2, arbitrary: pick(...tagged) },
  ),
  filter: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    tie('leaf'),
    fc
      .tuple(tie('filter'), pick(' AND ', ' and ', ' '), tie('filter'))
      .map(([a, and, b]) => `(${a})${and}(${b})`),
    fc.tuple(tie('filter'), pick(' OR ', ' or '), tie('filter')).map(([a, or, b]) => `(${a})${or}(${b})`),
    fc.tuple(tie('leaf'), tie('leaf'), tie('leaf')).map(([a, b, c]) => `${a} AND ${b} OR ${c}`),
    fc.tuple(pick('NOT ', 'not ', '-'), tie('filter')).map(([not, a]) => `${not}(${a})`),
  ),
})).filter
