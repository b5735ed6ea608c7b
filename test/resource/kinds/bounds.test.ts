import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { KindName } from '../../../lib/resource/kinds/kind.js'
import { KINDS } from '../../../lib/resource/kinds/kinds.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { Specimen_Phase } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../conformance/repository/subject.js'

const tags = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)])
const at = (text: string): Date => new Date(text)
const [MOST_FLOAT, MOST_INT64] = [(2 - 2 ** -23) * 2 ** 127, 2n ** 63n - 1n]

interface Bounds {
  readonly property: keyof Specimen
  /** The least and the most, which every column holds. */
  readonly held: readonly unknown[]
  /** Below and above. */
  readonly refused: readonly unknown[]
}

/** Of all kinds that a specimen has. `test/conformance/keys` has those of UUIDs and days,
 * `test/conformance/properties` those of decimals. */
const BOUNDS: Readonly<Record<Exclude<KindName, 'uuid' | 'date' | 'decimal'>, Bounds>> = {
  string: {
    property: 'title',
    held: ['', '\u{1F600}'.repeat(100)],
    refused: ['x'.repeat(101), 'a\0', '\uD800'],
  },
  bool: { property: 'active', held: [false, true], refused: [0, 1] },
  int32: { property: 'count', held: [-(2 ** 31), 2 ** 31 - 1], refused: [-(2 ** 31) - 1, 2 ** 31, 0.5] },
  uint32: { property: 'weight', held: [0, 2 ** 32 - 1], refused: [-1, 2 ** 32] },
  int64: { property: 'big', held: [-(2n ** 63n), MOST_INT64], refused: [-(2n ** 63n) - 1n, 2n ** 63n] },
  uint64: { property: 'huge', held: [0n, MOST_INT64], refused: [-1n, 2n ** 64n] },
  float: { property: 'ratio', held: [-MOST_FLOAT, MOST_FLOAT], refused: [-1e39, 1e39, Number.NaN] },
  double: {
    property: 'score',
    held: [-Number.MAX_VALUE, Number.MAX_VALUE],
    refused: [-Infinity, Infinity, Number.NaN],
  },
  bytes: { property: 'blob', held: [new Uint8Array(), new Uint8Array(70_000)], refused: ['', []] },
  enum: {
    property: 'phase',
    held: [Specimen_Phase.PHASE_UNSPECIFIED, Specimen_Phase.SET],
    refused: [-1, 4],
  },
  timestamp: {
    property: 'dueTime',
    held: [at('1000-01-01T00:00:00.000Z'), at('9999-12-31T23:59:59.999Z')],
    refused: [at('0999-12-31T23:59:59.999Z'), at('+010000-01-01T00:00:00.000Z'), at('never')],
  },
  duration: {
    property: 'span',
    held: [-(2n ** 63n), MOST_INT64],
    refused: [-(2n ** 63n) - 1n, 2n ** 63n],
  },
  json: { property: 'labels', held: [[], ['a']], refused: [nested(66), ['\0'], 'a'] },
  tags: { property: 'tags', held: [{}, tags(256)], refused: [tags(257), { a: '\0' }, []] },
}

describe('the table of bounds', () => {
  it('has every kind', () => {
    expect([...Object.keys(BOUNDS), 'uuid', 'date', 'decimal']).to.have.members(Object.keys(KINDS))
  })
})

describeOn('the bounds of a kind of column', backends, (backend) => {
  let subject: OpenSubject

  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject.close())

  for (const kind of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[])
    it(`are held, and no value beyond them is written: ${kind}`, () =>
      inAcme(async () => {
        const { property, held, refused } = BOUNDS[kind]
        const { specimens } = subject
        for (const value of held) {
          const { id } = await specimens.create(draft({ [property]: value }))
          expect((await specimens.get(id))[property]).to.deep.equal(value)
        }
        const { id } = await specimens.create(draft())
        const field = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
        for (const value of refused) {
          const values = { [property]: value }
          for (const write of [
            () => specimens.create(draft(values)),
            () => specimens.update(id, values, [field as never]),
          ])
            expect((await rejection(write(), InvalidArgument)).field).to.match(new RegExp(`^${field}(\\[|$)`))
        }
      }))
})
