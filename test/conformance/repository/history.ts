import fc from 'fast-check'
import type { Specimen } from '../../support/entities/specimen.js'

/** Which etag a write names: none, the last one seen, the one before it, or one that never was. */
export type Match = 'none' | 'current' | 'previous' | 'invented'

export type Write =
  | { readonly op: 'create'; readonly values: Partial<Specimen> }
  | {
      readonly op: 'update'
      readonly id: string
      readonly values: Partial<Specimen>
      readonly mask: readonly string[]
      readonly match: Match
    }
  | { readonly op: 'delete'; readonly id: string; readonly match: Match }
  | { readonly op: 'undelete'; readonly id: string; readonly match: Match }

export type Operation =
  | Write
  | { readonly op: 'get'; readonly id: string }
  | {
      readonly op: 'walk'
      readonly filter: string
      readonly orderBy: string
      readonly showDeleted: boolean
      readonly pageSize: number
      /** What is written between one page and the next. */
      readonly meanwhile: readonly Write[]
    }
  | { readonly op: 'batchGet'; readonly ids: readonly string[] }
  | {
      readonly op: 'batchUpdate'
      readonly items: readonly { key: string; entity: Partial<Specimen>; fieldMask: readonly string[] }[]
    }
  | { readonly op: 'batchDelete'; readonly ids: readonly string[] }
  | { readonly op: 'purge'; readonly beforeSeconds: number }
  | { readonly op: 'remint'; readonly id: string }
  | { readonly op: 'verify'; readonly id: string; readonly which: 'current' | 'previous' }
  | { readonly op: 'lookup'; readonly secret: string }
  | { readonly op: 'reveal'; readonly id: string }
  | { readonly op: 'transaction'; readonly steps: readonly Write[]; readonly fails: boolean }
  /** What a failing history is shrunk to, so that it keeps its length. */
  | { readonly op: 'rest' }

/** One operation of one tenant, some seconds after the one before. */
export interface Step {
  readonly tenant: 'acme' | 'globex' | 'initech'
  readonly after: number
  readonly operation: Operation
}

/** Texts that collations order and compare differently. */
const TEXTS = ['', 'a', 'A', 'b', 'a ', 'ä', 'ß', 'Z', '_', '😀', '\uffee'] as const
const text = fc.constantFrom(...TEXTS)
const id = fc.constantFrom('a', 'b', 'c', 'd', 'A', 'a ', 'ä')
const secret = fc.constantFrom('', 'hush', 'psst')
const match = fc.constantFrom<Match[]>('none', 'none', 'none', 'current', 'current', 'previous', 'invented')

const values: fc.Arbitrary<Partial<Specimen>> = fc.record(
  {
    title: text,
    note: text,
    active: fc.boolean(),
    count: fc.integer({ min: -2, max: 3 }),
    big: fc.constantFrom(0n, -1n, -10n, 9n, 10n, 2n ** 53n + 1n, 2n ** 63n - 1n),
    huge: fc.constantFrom(0n, 7n, 10n, 2n ** 53n + 1n),
    ratio: fc.constantFrom(0, 0.1, -1.5),
    score: fc.constantFrom(0, 0.1, 1e300),
    blob: fc.constantFrom(new Uint8Array(), new Uint8Array([0, 255])),
    phase: fc.integer({ min: 0, max: 3 }),
    dueTime: fc.constantFrom(new Date(0), new Date('2030-01-01T00:00:00.001Z')),
    span: fc.constantFrom(0n, -7n, 1_500_000_000n, 20n),
    labels: fc.array(text, { maxLength: 2 }),
    origin: fc.constantFrom({ quarry: 'Carrara', depth: 2n ** 60n, crew: ['Pia'] }),
    tags: fc.dictionary(fc.constantFrom('env', 'tier'), text, { maxKeys: 2, noNullPrototype: true }),
    rank: fc.integer({ min: 0, max: 2 }),
    code: fc.constantFrom('x', 'X', 'x ', 'y', 'z', 'é'),
    webhookSecret: secret,
  },
  { requiredKeys: [] },
)

const mask = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.subarray(['title', 'note', 'count', 'phase', 'tags', 'rank', 'code', 'due_time']),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(['*'], ['webhook_secret'], ['labels', 'origin'], ['big', 'score']),
  },
  { weight: 1, arbitrary: fc.constantFrom(['nope'], ['id'], ['title', 'etag']) },
)

const create: fc.Arbitrary<Write> = fc.record({
  op: fc.constant('create' as const),
  values: fc
    .tuple(
      values,
      fc.oneof({ weight: 9, arbitrary: id }, { weight: 1, arbitrary: fc.constant('') }),
      fc.nat(4),
    )
    .map(([given, key, days]) => ({
      ...given,
      id: key,
      ...(days === 0 ? {} : { expireTime: new Date(EPOCH + days * 86_400_000) }),
    })),
})

const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 4, arbitrary: create },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('update' as const), id, values, mask, match }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), id, match }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('undelete' as const), id, match }) },
)

const FILTERS = [
  '',
  'title = "a"',
  'title != "a"',
  'title < "b"',
  'note = null',
  'NOT note = "a"',
  'note > "A" OR count >= 1',
  'note : "a"',
  'count > 0 active = true',
  'NOT (rank = 1 AND count != 2)',
  'big >= 9007199254740993',
  'phase = CUT OR phase = RAW',
  'due_time > "2000-01-01T00:00:00Z"',
  'tags.env = "a"',
  'tags:tier',
  'has(tags.env) AND -active = true',
  'create_time > "2026-03-04T05:07:00Z"',
  'score = 0.1',
  'code = "x"',
  'nope = 1',
] as const

const ORDERS = [
  '',
  'title',
  'title desc, count',
  'note',
  'note desc',
  'rank desc, title',
  'count desc',
  'create_time desc',
  'update_time',
  'due_time desc, code',
  'big',
  'huge desc, span',
  'span desc',
  'blob, ratio desc',
  'phase desc, big desc',
  'active desc, score',
  'nope',
] as const

const walk = fc.record({
  op: fc.constant('walk' as const),
  filter: fc.constantFrom(...FILTERS),
  orderBy: fc.constantFrom(...ORDERS),
  showDeleted: fc.boolean(),
  pageSize: fc.integer({ min: 0, max: 3 }),
  meanwhile: fc.array(write, { maxLength: 2 }),
})

const ids = fc.array(id, { maxLength: 4 })

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constant({ op: 'rest' as const }) },
  { weight: 12, arbitrary: write },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('get' as const), id }) },
  { weight: 5, arbitrary: walk },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('batchGet' as const), ids }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('batchUpdate' as const),
      items: fc.array(fc.record({ key: id, entity: values, fieldMask: mask }), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('batchDelete' as const), ids }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('purge' as const),
      beforeSeconds: fc.integer({ max: 4 * 86_400, min: 0 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remint' as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('verify' as const),
      id,
      which: fc.constantFrom('current' as const, 'previous' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('lookup' as const), secret }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('reveal' as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('transaction' as const),
      steps: fc.array(write, { minLength: 1, maxLength: 4 }),
      fails: fc.boolean(),
    }),
  },
)

/** When every history begins. */
export const EPOCH = Date.parse('2026-03-04T05:06:07.089Z')

/** Histories of this many operations of three tenants who name the same keys. */
export const histories = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      tenant: fc.constantFrom('acme' as const, 'globex' as const, 'initech' as const),
      after: fc.integer({ min: 0, max: 20_000 }),
      operation,
    }),
    { minLength: length, maxLength: length, size: 'max' },
  )
