import { expect } from 'chai'
import fc from 'fast-check'
import { ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { type Filter, filter } from '../../../lib/persistence/query/filter-template.js'
import type { CompareOp } from '../../../lib/persistence/query/query-plan.js'
import { drill } from '../../support/drill.js'
import { Specimen } from '../../support/entities/specimen.js'
import { asTenant, draft, type Holder, inAcme, rejection } from './subject.js'

const titled = (title: string): Filter => filter`title = ${title}`
const either = (one: Filter, ...more: readonly Filter[]): Filter =>
  more.reduce((all, other) => filter`${all} OR ${other}`, one)

/** `where`: rows that it excludes are not there, for any operation. */
export const rowConditions = (holder: Holder): void => {
  const make = async (...ids: string[]) => {
    for (const id of ids) await holder.subject.specimens.create(draft({ id, title: id.slice(0, 4) }))
  }
  const titles = async () => (await holder.subject.specimens.list()).items.map(({ title }) => title)

  describe('where', () => {
    const mine = { where: titled('mine') }

    it('limits every operation to the included rows', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('mine-1', 'mine-2', 'theirs')
        expect((await specimens.get('mine-1', mine)).id).to.equal('mine-1')
        expect((await specimens.batchGet(['mine-2', 'mine-1'], mine)).map(({ id }) => id)).to.deep.equal([
          'mine-2',
          'mine-1',
        ])
        expect((await specimens.update('mine-1', { count: 1 }, ['count'], mine)).count).to.equal(1)
        const item = (key: string) => ({ key, entity: { count: 2 }, fieldMask: ['count'] as const })
        const written = await specimens.batchUpdate([item('mine-2'), item('mine-1')], mine)
        expect(written.map(({ count }) => count)).to.deep.equal([2, 2])
        for (const reach of [
          () => specimens.get('theirs', mine),
          () => specimens.batchGet(['mine-1', 'theirs'], mine),
          () => specimens.update('theirs', { count: 3 }, ['count'], mine),
          () => specimens.batchUpdate([item('mine-1'), { ...item('theirs'), entity: { count: 3 } }], mine),
          () => specimens.delete('theirs', mine),
          () => specimens.batchDelete(['mine-1', 'theirs'], mine),
          () => specimens.remintApiKey('theirs', mine),
          () => specimens.revealWebhookSecret('theirs', mine),
        ])
          await rejection(reach(), ErrNotFound)
        expect((await specimens.list()).items.map(({ count }) => count)).to.deep.equal([2, 2, 0])
        await specimens.delete('mine-1', mine)
        await specimens.batchDelete(['mine-2'], mine)
        await specimens.delete('theirs')
        await rejection(specimens.undelete('theirs', mine), ErrNotFound)
        expect((await specimens.undelete('mine-1', mine)).id).to.equal('mine-1')
        expect(await titles()).to.deep.equal(['mine'])
      }))

    it('reports another etag only if the row is included', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('mine', 'theirs', 'gone')
        await specimens.delete('gone')
        const stale = { ...mine, ifMatch: 'another' }
        await rejection(specimens.update('mine', { count: 1 }, ['count'], stale), ErrPreconditionFailed)
        await rejection(specimens.delete('mine', stale), ErrPreconditionFailed)
        await rejection(specimens.update('theirs', { count: 1 }, ['count'], stale), ErrNotFound)
        await rejection(specimens.delete('theirs', stale), ErrNotFound)
        await rejection(specimens.undelete('gone', stale), ErrNotFound)
      }))

    it('is not part of a page token: another one takes effect on the next page', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a', 'b', 'c', 'd', 'e')
        const any = (one: string, ...more: string[]) => ({ where: either(titled(one), ...more.map(titled)) })
        const first = await specimens.list({ pageSize: 2 }, any('a', 'b', 'd', 'e'))
        expect(first.items.map(({ id }) => id)).to.deep.equal(['a', 'b'])
        const { nextPageToken: pageToken } = first
        const rest = await specimens.list({ pageSize: 2, pageToken }, any('a', 'c', 'e'))
        expect(rest.items.map(({ id }) => id)).to.deep.equal(['c', 'e'])
        expect(rest.nextPageToken).to.equal('')
        expect((await specimens.list({ pageToken })).items).to.have.length(3)
      }))

    it('holds beside filter, order, search and showDeleted', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('mine-1', 'mine-2', 'theirs')
        await specimens.delete('mine-2')
        const list = { filter: 'title = "mine" OR title = "thei"', orderBy: 'title desc', showDeleted: true }
        const { items } = await specimens.list(list, { ...mine, under: filter`title = ${'mine'}` })
        expect(items.map(({ id }) => id)).to.have.members(['mine-1', 'mine-2'])
        expect((await specimens.list({ filter: 'NOT title = "mine"' }, mine)).items).to.deep.equal([])
      }))

    it('stays within the tenant', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('mine')
        await asTenant('globex', async () => {
          await rejection(specimens.get('mine', mine), ErrNotFound)
          expect(
            (await specimens.list({}, { where: filter`title = "mine" OR title != "mine"` })).items,
          ).to.deep.equal([])
        })
      }))

    for (const text of ['a\0', '\ud800'])
      it(`takes ${JSON.stringify(text)} for what no row holds`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          await make('a')
          const count = async (where: Filter) => (await specimens.list({}, { where })).items.length
          expect(await count(titled(text))).to.equal(0)
          expect(await count(filter`NOT title = ${text}`)).to.equal(1)
          expect(await count(filter`title != ${text}`)).to.equal(1)
          expect(await count(filter`NOT note = ${text}`)).to.equal(0)
          expect(await count(filter`note:${text}`)).to.equal(0)
          await rejection(specimens.get('a', { where: titled(text) }), ErrNotFound)
        }))

    it('is refused where it is blank, or names a field that the resource does not have', () =>
      inAcme(async () => {
        const { notes } = holder.subject
        await rejection(notes.list({}, mine), TypeError)
        await rejection(notes.get('a', mine), TypeError)
        for (const blank of ['', ' ']) {
          await rejection(notes.list({}, { where: blank as Filter }), TypeError)
          await rejection(notes.get('a', { where: blank as Filter }), TypeError)
        }
      }))

    it('keeps pages full and every operation to the same rows, whatever it asks', async () => {
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), condition, async (rows, asked) => {
          await asTenant(`fuzz-${++round}`, () => checkRows(holder, rows, asked))
        }),
        { numRuns: drill(12, 1000) },
      )
    })
  })
}

type Row = Pick<Specimen, 'title' | 'count' | 'active' | 'rank'>

const TITLES = ['', 'a', 'A', 'a ', 'ä', '%', "'", '😀'] as const
const row: fc.Arbitrary<Row> = fc.record(
  {
    title: fc.constantFrom(...TITLES),
    count: fc.integer({ min: -2, max: 2 }),
    active: fc.boolean(),
    rank: fc.integer({ min: 0, max: 2 }),
  },
  { requiredKeys: ['title', 'count', 'active'] },
)

type Truth = boolean | undefined
interface Condition {
  readonly text: string
  /** SQL's logic, undefined for unknown. */
  readonly truth: (row: Row) => Truth
}

const OPS: Readonly<Record<CompareOp, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}
const anyOp = fc.constantFrom(...(Object.keys(OPS) as CompareOp[]))

const compared = (name: keyof Row, op: CompareOp, value: string | number | boolean): Condition => ({
  text: `${name} ${op} ${JSON.stringify(value)}`,
  truth: (one) => {
    const held = one[name]
    if (held === undefined) return undefined
    const [a, b] = [held, value].map((each) => (typeof each === 'string' ? Buffer.from(each) : Number(each)))
    return OPS[op](typeof a === 'object' ? Buffer.compare(a, b as Buffer) : (a as number) - (b as number))
  },
})

const leaf = fc.oneof(
  fc.tuple(anyOp, fc.constantFrom(...TITLES)).map(([op, value]) => compared('title', op, value)),
  fc.tuple(anyOp, fc.integer({ min: -2, max: 2 })).map(([op, value]) => compared('count', op, value)),
  fc.tuple(anyOp, fc.integer({ min: 0, max: 2 })).map(([op, value]) => compared('rank', op, value)),
  fc
    .tuple(fc.constantFrom<CompareOp[]>('=', '!='), fc.boolean())
    .map(([op, value]) => compared('active', op, value)),
  fc.constant<Condition>({
    text: 'rank = null',
    truth: ({ rank }) => rank === undefined,
  }),
)

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('condition').map(({ text, truth }): Condition => ({
      text: `NOT (${text})`,
      truth: (one) => {
        const inner = truth(one)
        return inner === undefined ? undefined : !inner
      },
    })),
    fc
      .tuple(
        fc.constantFrom<('and' | 'or')[]>('and', 'or'),
        fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
      )
      .map(([kind, parts]): Condition => ({
        text: parts.map(({ text }) => `(${text})`).join(` ${kind.toUpperCase()} `),
        truth: (one) => {
          const all = parts.map(({ truth }) => truth(one))
          const decides = kind === 'or'
          if (all.includes(decides)) return decides
          return all.includes(undefined) ? undefined : !decides
        },
      })),
  ),
}))

async function checkRows({ subject: { specimens } }: Holder, rows: readonly Row[], asked: Condition) {
  const ids = rows.map((_, index) => `k${String(index).padStart(2, '0')}`)
  for (const [index, values] of rows.entries())
    await specimens.create(draft({ id: ids[index] as string, ...values }))
  const where = asked.text as Filter
  const included = ids.filter((_, index) => asked.truth(rows[index] as Row) === true)
  const pages: string[][] = []
  for (let pageToken: string | undefined; pageToken !== '';) {
    const list = { pageSize: 3, orderBy: 'id', ...(pageToken !== undefined && { pageToken }) }
    const page = await specimens.list(list, { where })
    pages.push(page.items.map(({ id }) => id))
    pageToken = page.nextPageToken
  }
  const full = Array.from({ length: Math.max(1, Math.ceil(included.length / 3)) }, (_, i) =>
    included.slice(i * 3, i * 3 + 3),
  )
  expect(pages).to.deep.equal(full)
  expect(await specimens.count({}, { where })).to.equal(included.length)
  expect(await specimens.exists({}, { where })).to.equal(included.length > 0)
  const reached = async (work: (id: string) => Promise<unknown>) => {
    const found: string[] = []
    for (const id of ids)
      await work(id).then(
        () => found.push(id),
        (error: unknown) => expect(error).to.be.instanceOf(ErrNotFound),
      )
    return found
  }
  const entity = { weight: 7 }
  const fieldMask = ['weight'] as const
  for (const work of [
    (id: string) => specimens.get(id, { where }),
    (id: string) => specimens.batchGet([id], { where }),
    (id: string) => specimens.update(id, entity, fieldMask, { where }),
    (id: string) => specimens.batchUpdate([{ key: id, entity, fieldMask }], { where }),
    (id: string) => specimens.delete(id, { where }),
    (id: string) => specimens.undelete(id, { where }),
    (id: string) => specimens.batchDelete([id], { where }),
  ])
    expect(await reached(work)).to.deep.equal(included)
}
