import { expect } from 'chai'
import { InvalidArgument } from '../../../../lib/errors.js'
import { quote } from '../../../persistence/query/specimen-filters.js'
import { KEYS } from '../../../persistence/query/specimen-rows.js'
import { Specimen_Phase } from '../../../support/gen/specimens_pb.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'

/** The filter, and the ids it finds among {@link ROWS}. */
const FOUND: readonly (readonly [string, string])[] = [
  ['', 'a b c'],
  ['   ', 'a b c'],
  ['id = "a"', 'a'],
  ['id != "a"', 'b c'],
  ['count > 1', 'b c'],
  ['count >= 2', 'b c'],
  ['count < 2', 'a'],
  ['count <= 2', 'a b'],
  ['count = 2.0', 'b'],
  ['count >= 0.2e1', 'b c'],
  ['big = 9223372036854775807.0', 'a'],
  ['big = 9.007199254740993e15', 'c'],
  ['span = 1.5s', 'a'],
  [Array.from({ length: 128 }, () => 'count=1').join(' OR '), 'a'],
  ['count = 1 OR count = 3', 'a c'],
  ['count = 1 or count = 3', 'a c'],
  ['count > 1 AND title = "Basalt"', 'b'],
  ['title = "Basalt" AND count = 1 OR count = 2', 'b'],
  ['(title = "Basalt" AND count = 2) OR count = 1', 'a b'],
  ['count > 1 title = "Basalt"', 'b'],
  ['NOT count = 1', 'b c'],
  ['-count = 1', 'b c'],
  ['title = "basalt"', ''],
  ['title = "Basalt "', ''],
  ['title : "asa"', 'b'],
  ['title : "%"', ''],
  ['title : "_"', ''],
  ['title = "x\' OR 1=1 --"', ''],
  ['active = true', 'a c'],
  ['active = false', 'b'],
  ['big = 9223372036854775807', 'a'],
  ['big > 9223372036854775806', 'a'],
  ['big = -9223372036854775808', 'b'],
  ['big = 9007199254740993', 'c'],
  ['huge = 9007199254740993', 'c'],
  ['ratio = 0.1', 'a'],
  ['score = 0.1', 'a'],
  ['score < -1.5', 'b'],
  ['phase = CUT', 'a'],
  ['phase != CUT', 'b c'],
  ['due_time = "2030-01-01T00:00:00.001Z"', 'a'],
  ['due_time > "2030-01-01T00:00:00Z"', 'a b'],
  ['due_time < "2030-06-01T02:00:00+02:00"', 'a'],
  ['due_time = null', 'c'],
  ['due_time != null', 'a b'],
  ['note = null', 'b c'],
  ['note:*', 'a'],
  ['NOT note:*', 'b c'],
  ['-due_time:*', 'c'],
  ['rank : * AND due_time:*', 'a b'],
  ['tags.env:*', 'a b'],
  ['NOT tags.env:*', 'c'],
  ['note = "n"', 'a'],
  ['note != "n"', ''],
  ['NOT note = "n"', ''],
  ['span = "1.5s"', 'a'],
  ['tags.env = "prod"', 'a'],
  ['tags.env != "prod"', 'b'],
  ['tags:env', 'a b'],
  ['has(tags.env)', 'a b'],
  ['NOT tags:env', 'c'],
  ['rank > 1', 'b'],
  ['create_time >= "2026-03-04T05:06:07.089Z"', 'a b c'],
]

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['nope = 1', /unknown field "nope" at position 1/],
  ['nope:*', /unknown field "nope"/],
  ['title:*', /"title" is always set: compare it with a value/],
  ['count:*', /"count" is always set/],
  ['tags:*', /"tags" is always set: test a key, as in tags.key:\*/],
  ['note = *', /./],
  ['*', /expected a field, found "\*"/],
  ['account_id = "globex"', /cannot be filtered/],
  ['webhook_secret = "x"', /unknown field/],
  ['webhook_secret_hash = "x"', /unknown field/],
  ['api_key = "x"', /unknown field/],
  ['api_key_public_id = "x"', /unknown field/],
  ['serial = "x"', /cannot be filtered/],
  ['bin = "x"', /unknown field/],
  ['deleted_at = null', /unknown field/],
  ['__proto__ = 1', /unknown field/],
  ['constructor = 1', /unknown field/],
  ['count = "x"', /position/],
  ['count = 1.5', /position/],
  ['count = 99999999999999999999', /position/],
  ['count = 007', /takes an integer/],
  ['count = 1e-1', /takes an integer/],
  ['score = 007', /takes a number/],
  ['count > null', /only be compared with = and !=/],
  ['note <= null', /only be compared with = and !=/],
  ['due_time < null', /only be compared with = and !=/],
  ['tags.env >= null', /only be compared with = and !=/],
  ['phase > null', /only be compared with = and !=/],
  ['\u00a0', /unknown field/],
  ['count\u00a0= 1', /unknown field/],
  [Array.from({ length: 129 }, () => 'count=1').join(' '), /more than 128 comparisons/],
  [' '.repeat(10_000_000), /4096/],
  ['title = 1', /position/],
  ['active = 1', /position/],
  ['phase = NOPE', /position/],
  ['due_time = "yesterday"', /position/],
  ['title = "open', /position/],
  ['title =', /position/],
  ['(count = 1', /position/],
  ['count = 1)', /position/],
  ['AND', /position/],
  ['count == 1', /position/],
  ['count = 1; DROP TABLE specimens', /position/],
  ['title = "\0"', /position/],
  ['title = "\uD800"', /position/],
  ['('.repeat(10_000), /characters|deep|nest/],
  [`${'('.repeat(100)}count = 1${')'.repeat(100)}`, /deep|nest/],
  [`title = "${'x'.repeat(5000)}"`, /4096/],
]

/** The filter grammar on stored rows, and what it refuses. */
export const filters = (holder: Holder): void => {
  describe('filter', () => {
    const make = async () => {
      const { specimens } = holder.subject
      await specimens.create(
        draft({
          id: 'a',
          title: 'Granite',
          note: 'n',
          active: true,
          count: 1,
          big: 2n ** 63n - 1n,
          ratio: 0.1,
          score: 0.1,
          phase: Specimen_Phase.CUT,
          dueTime: new Date('2030-01-01T00:00:00.001Z'),
          span: 1_500_000_000n,
          tags: { env: 'prod' },
          rank: 1,
        }),
      )
      await specimens.create(
        draft({
          id: 'b',
          title: 'Basalt',
          count: 2,
          big: -(2n ** 63n),
          score: -1.75,
          dueTime: new Date('2031-01-01T00:00:00Z'),
          tags: { env: 'dev', 'a"b.c': 'x' },
          rank: 2,
        }),
      )
      await specimens.create(
        draft({ id: 'c', title: 'Chalk', active: true, count: 3, big: 2n ** 53n + 1n, huge: 2n ** 53n + 1n }),
      )
    }

    for (const [filter, ids] of FOUND)
      it(filter === '' ? '(empty)' : filter, () =>
        inAcme(async () => {
          await make()
          const { items } = await holder.subject.specimens.list({ filter })
          expect(items.map(({ id }) => id).join(' ')).to.equal(ids)
        }),
      )

    for (const [filter, why] of REFUSED)
      it(`rejects ${JSON.stringify(filter.slice(0, 40))}`, () =>
        inAcme(async () => {
          const error = await rejection(holder.subject.specimens.list({ filter }), InvalidArgument, why)
          expect(error.field).to.equal('filter')
          expect(error.wireMessage.replace(/"[^"]*"/, '')).to.not.match(/specimens|deleted_at|SELECT|_hash/)
        }))

    it('finds tags by keys of every shape, and only by the very same key', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const [i, key] of KEYS.entries())
          await specimens.create(draft({ id: `k${i}`, tags: { before: 'x', [key]: `v${i}`, after: 'y' } }))
        for (const [i, key] of KEYS.entries()) {
          const name = quote(key)
          for (const filter of [
            `tags:${name}`,
            `has(tags.${name})`,
            `tags.${name} = "v${i}"`,
            `tags.${name}:"v${i}"`,
          ])
            expect(
              (await specimens.list({ filter })).items.map(({ id }) => id),
              filter,
            ).to.deep.equal([`k${i}`])
          const { items } = await specimens.list({ filter: `tags.${name} = null`, pageSize: 1000 })
          expect(items, key).to.have.length(KEYS.length - 1)
        }
      }))
  })
}
