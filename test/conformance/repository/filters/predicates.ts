import { expect } from 'chai'
import fc from 'fast-check'
import { InvalidArgument } from '../../../../lib/errors.js'
import { type Filter, filter } from '../../../../lib/persistence/query/filter-template.js'
import type { ListOptions, ListScope } from '../../../../lib/persistence/contract/repository.js'
import type { OrderBy } from '../../../../lib/persistence/query/order-by.js'
import { drill } from '../../../support/drill.js'
import type { Specimen } from '../../../support/entities/specimen.js'
import { Specimen_Phase } from '../../../support/gen/specimens_pb.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'

/** What a caller may send, and what quoting has to hold. */
const nasty = fc.constantFrom(
  ...[
    '"',
    '\\',
    '\\"',
    "'",
    "' OR 1=1 --",
    '" OR id != "',
    ') OR (id != ""',
    '${x}',
    '%',
    '_',
    '\n',
    '\u2028',
    '\u00a0',
  ],
  ...['null', 'true', 'AND', '\\u0041', '\\u0000', '😀', 'é', 'e\u0301', ' a', 'a ', 'A', '-1', '1', ''],
)
const texts = fc
  .oneof(
    nasty,
    fc
      .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 4 })
      .map((parts) => parts.join('')),
  )
  .filter((text) => !text.includes('\0') && [...text].length <= 100)

const rows = fc.record({
  title: texts,
  count: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  score: fc.double({ noNaN: true, noDefaultInfinity: true }),
  active: fc.boolean(),
  dueTime: fc.date({
    min: new Date(-30_610_224_000_000),
    max: new Date(253_402_300_799_999),
    noInvalidDate: true,
  }),
  phase: fc.constantFrom(Specimen_Phase.RAW, Specimen_Phase.CUT, Specimen_Phase.SET),
  blob: fc.uint8Array({ maxLength: 8 }),
})

/** A filter of code: its values stay values, and what a list is held to is held. */
export const predicates = (holder: Holder): void => {
  const ids = async (list: ListOptions<Specimen>, options?: ListScope) =>
    (await holder.subject.specimens.list(list, options)).items.map(({ id }) => id).join(' ')

  describe('filter`…`', () => {
    it('finds exactly the rows that are equal to the value, whatever the value is', () =>
      inAcme(() =>
        fc.assert(
          fc.asyncProperty(fc.array(rows, { minLength: 2, maxLength: 4 }), async (values) => {
            await holder.subject.clear()
            const { specimens } = holder.subject
            for (const [i, row] of values.entries()) await specimens.create(draft({ ...row, id: `r${i}` }))
            for (const one of values) {
              const equal = (same: (other: (typeof values)[number]) => boolean) =>
                values.flatMap((other, i) => (same(other) ? [`r${i}`] : [])).join(' ')
              expect(await ids({ filter: filter`title = ${one.title}` })).to.equal(
                equal((o) => o.title === one.title),
              )
              expect(await ids({ filter: filter`count = ${one.count}` })).to.equal(
                equal((o) => o.count === one.count),
              )
              expect(await ids({ filter: filter`big = ${one.big}` })).to.equal(
                equal((o) => o.big === one.big),
              )
              expect(await ids({ filter: filter`score = ${one.score}` })).to.equal(
                equal((o) => o.score === one.score),
              )
              expect(await ids({ filter: filter`active = ${one.active}` })).to.equal(
                equal((o) => o.active === one.active),
              )
              expect(await ids({ filter: filter`phase = ${one.phase}` })).to.equal(
                equal((o) => o.phase === one.phase),
              )
              expect(await ids({ filter: filter`due_time = ${one.dueTime}` })).to.equal(
                equal((o) => o.dueTime.getTime() === one.dueTime.getTime()),
              )
              expect(await ids({ filter: filter`blob = ${one.blob}` })).to.equal(
                equal((o) => Buffer.compare(o.blob, one.blob) === 0),
              )
            }
          }),
          { numRuns: drill(6, 400) },
        ),
      ))

    it('takes the number of an enum, its name, null, tags by keys of any kind, and other filters', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.create(draft({ id: 'a', phase: Specimen_Phase.CUT, note: 'n', tags: { 'x"y': 'z' } }))
        await specimens.create(draft({ id: 'b', phase: Specimen_Phase.RAW, count: 2 }))
        expect(await ids({ filter: filter`phase = ${Specimen_Phase.CUT}` })).to.equal('a')
        expect(await ids({ filter: filter`phase = ${'CUT'}` })).to.equal('a')
        expect(await ids({ filter: filter`note = ${null}` })).to.equal('b')
        expect(await ids({ filter: filter`tags.${'x"y'} = ${'z'}` })).to.equal('a')
        expect(await ids({ filter: filter`tags:${'x"y'}` })).to.equal('a')
        expect(await ids({ filter: filter`has(tags.${'x"y'})` })).to.equal('a')
        const either = filter`note = ${'n'} OR count = ${2}`
        expect(await ids({ filter: filter`NOT ${either}` })).to.equal('')
        expect(await ids({ filter: filter`${either} AND count = ${2}` })).to.equal('b')
        await rejection(specimens.list({ filter: filter`phase = ${7}` }), InvalidArgument, /has no value/)
        await rejection(specimens.list({ filter: filter`title = ${'\0'}` }), InvalidArgument, /NUL/)
        await rejection(specimens.list({ filter: filter`title = ${'\ud800'}` }), InvalidArgument, /surrogate/)
      }))
  })

  describe('under', () => {
    const make = async () => {
      const { specimens } = holder.subject
      await specimens.create(draft({ id: 'a', title: 'one', count: 1 }))
      await specimens.create(draft({ id: 'b', title: 'one', count: 2, bin: 'left' }))
      await specimens.create(draft({ id: 'c', title: 'two', count: 3, note: 'n' }))
    }

    it('holds a list to what code says, whatever the filter of the caller is', () =>
      inAcme(async () => {
        await make()
        const under = filter`title = ${'one'}`
        for (const [asked, found] of [
          ['', 'a b'],
          ['count > 1', 'b'],
          ['count = 3 OR count = 1', 'a'],
          ['title = "two"', ''],
          ['NOT title = "one" OR count != 0', 'a b'],
        ] as const)
          expect(await ids({ filter: asked }, { under }), asked).to.equal(found)
        await rejection(
          holder.subject.specimens.list({ filter: 'count = 1) OR (count > 0' }, { under }),
          InvalidArgument,
        )
      }))

    it('names fields that no caller may filter by, and no secret', () =>
      inAcme(async () => {
        await make()
        expect(await ids({}, { under: filter`bin = ${'left'}` })).to.equal('b')
        expect(await ids({}, { under: filter`account_id = ${'acme'}` })).to.equal('a b c')
        expect(await ids({}, { under: filter`serial = ${'x'}` })).to.equal('')
        for (const under of [
          filter`webhook_secret_hash = ${'x'}`,
          filter`api_key_public_id = ${'x'}`,
          filter`nope = ${1}`,
        ])
          await rejection(holder.subject.specimens.list({}, { under }), TypeError, /unknown field/)
      }))

    it('takes a text of any length, and one that no column can hold, which no row has', () =>
      inAcme(async () => {
        await make()
        for (const value of ['a\0', '\0', '\ud800', 'x'.repeat(100_000)]) {
          expect(await ids({}, { under: filter`title = ${value}` })).to.equal('')
          expect(await ids({}, { under: filter`title : ${value}` })).to.equal('')
          expect(await ids({}, { under: filter`title != ${value}` })).to.equal('a b c')
          expect(await ids({}, { under: filter`NOT title = ${value}` })).to.equal('a b c')
          expect(await ids({}, { under: filter`NOT note = ${value}` })).to.equal('c')
          expect(await ids({}, { under: filter`tags.k != ${value}` })).to.equal('')
        }
      }))

    it('is a part of what a page token belongs to', () =>
      inAcme(async () => {
        await make()
        const { specimens } = holder.subject
        const under = filter`title = ${'one'}`
        const { nextPageToken } = await specimens.list({ pageSize: 1 }, { under })
        expect(await ids({ pageToken: nextPageToken }, { under })).to.equal('b')
        for (const other of [undefined, filter`title = ${'two'}`, filter`count > ${0}`])
          await rejection(
            specimens.list({ pageToken: nextPageToken }, other === undefined ? {} : { under: other }),
            InvalidArgument,
            /page_token/,
          )
      }))

    it('restricts nothing if it is blank', () =>
      inAcme(async () => {
        await make()
        expect(await ids({}, { under: '' as Filter })).to.equal('a b c')
      }))
  })

  describe('an order as a list of terms', () => {
    it('sorts as the same text does, and shares its page tokens', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await specimens.create(draft({ id: 'a', title: 'x', count: 1 }))
        await specimens.create(draft({ id: 'b', title: 'x', count: 2 }))
        await specimens.create(draft({ id: 'c', title: 'w', count: 3 }))
        expect(await ids({ orderBy: ['title', { count: 'desc' }] })).to.equal('c b a')
        expect(await ids({ orderBy: [] })).to.equal('a b c')
        expect(await ids({ orderBy: [{ title: 'desc' }, 'count'] })).to.equal('a b c')
        const { nextPageToken } = await specimens.list({ orderBy: ['title', { count: 'desc' }], pageSize: 1 })
        expect(await ids({ orderBy: 'title,count desc', pageToken: nextPageToken })).to.equal('b a')
      }))

    for (const [what, term] of [
      ['a name that is several terms', 'title,count'],
      ['a name with a direction', 'count desc'],
      ['no name', ''],
      ['another direction', { count: 'DESC' }],
      ['two fields in one term', { count: 'desc', title: 'asc' }],
      ['an unknown field', 'nope'],
      ['a secret', 'webhook_secret_hash'],
    ] as const)
      it(`rejects ${what}`, () =>
        inAcme(async () => {
          const list = { orderBy: [term as never as OrderBy<Specimen>] }
          const error = await rejection(holder.subject.specimens.list(list), InvalidArgument)
          expect(error.field).to.equal('order_by')
        }))
  })
}
