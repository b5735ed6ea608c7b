import { expect } from 'chai'
import { ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { Specimen_Phase } from '../../support/gen/specimens_pb.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { asTenant, draft, type Holder, inAcme, rejection } from './subject.js'

const EVERY_KIND: Partial<Specimen> = {
  title: 'Marble "quoted", \\ and {braced}',
  active: true,
  weight: 4_000_000_000,
  big: -(2n ** 63n),
  huge: 12n,
  ratio: 0.5,
  score: -1.25e-7,
  blob: new Uint8Array([0, 34, 92, 255]),
  phase: Specimen_Phase.CUT,
  dueTime: new Date('2030-01-01T00:00:00.001Z'),
  span: -1n,
  labels: ['a,b', '"', 'NULL'],
  origin: { quarry: '{}', depth: 2n ** 60n, crew: [''] },
  tags: { 'a"b': '\\' },
}

/** The specification's batch operations: atomic, in the order of their input. */
export const batches = (holder: Holder): void => {
  const make = async (...ids: string[]) => {
    for (const id of ids) await holder.subject.specimens.create(draft({ id, count: 1 }))
  }
  const counts = async () =>
    (await holder.subject.specimens.list()).items.map(({ id, count }) => `${id}:${count}`)
  const count = (key: string, to: number, fieldMask: readonly string[] = ['count']) => ({
    key,
    entity: { count: to },
    fieldMask: fieldMask as readonly ['count'],
  })

  describe('batches', () => {
    it('BatchGet returns entities in the order of the keys, duplicates as duplicates', () =>
      inAcme(async () => {
        await make('a', 'b', 'c')
        const found = await holder.subject.specimens.batchGet(['c', 'a', 'c'])
        expect(found.map(({ id }) => id)).to.deep.equal(['c', 'a', 'c'])
      }))

    it('BatchGet fails as a whole when a key is missing', () =>
      inAcme(async () => {
        await make('a')
        await rejection(holder.subject.specimens.batchGet(['a', 'nobody']), ErrNotFound)
      }))

    it('BatchUpdate returns entities in the order of the items, each with its own mask', () =>
      inAcme(async () => {
        await make('a', 'b')
        const updated = await holder.subject.specimens.batchUpdate([
          count('b', 2),
          { key: 'a', entity: { title: 'Slate', count: 99 }, fieldMask: ['title'] },
        ])
        expect(updated.map(({ id, title, count: n }) => `${id} ${title} ${n}`)).to.deep.equal([
          'b Granite 2',
          'a Slate 1',
        ])
        expect(await counts()).to.deep.equal(['a:1', 'b:2'])
      }))

    for (const fieldMask of [[], ['*']] as const)
      it(`BatchUpdate with the mask ${JSON.stringify(fieldMask)} is a full update`, () =>
        inAcme(async () => {
          const before = await holder.subject.specimens.create(draft({ id: 'a', count: 1, note: 'n' }))
          const { note: _, ...whole } = { ...before, title: 'T', code: 'c', count: 0 }
          const [updated] = await holder.subject.specimens.batchUpdate([
            { key: 'a', entity: whole, fieldMask },
          ])
          expect(updated).to.include({ title: 'T', code: 'c', count: 0, note: undefined })
        }))

    it('BatchUpdate of a part of an entity without a mask is rejected as a whole', () =>
      inAcme(async () => {
        await make('a', 'b')
        const part = { key: 'a', entity: { title: 'T' }, fieldMask: [] } as never
        await rejection(
          holder.subject.specimens.batchUpdate([count('b', 2), part]),
          InvalidArgument,
          'lacks active, count,',
        )
        expect(await counts()).to.deep.equal(['a:1', 'b:1'])
      }))

    it('BatchUpdate with touchOnly writes etag and update_time of that item alone', () =>
      inAcme(async () => {
        await make('a', 'b', 'c')
        const { specimens } = holder.subject
        const etag = async (id: string) => (await specimens.get(id)).etag
        const before = await etag('a')
        const touch = { entity: { count: 9, title: '' }, touchOnly: true } as const
        const updated = await specimens.batchUpdate([
          { key: 'c', fieldMask: [], ...touch },
          count('b', 2),
          { key: 'a', fieldMask: ['count'], ...touch },
        ])
        expect(updated.map(({ id, count: n }) => `${id} ${n}`)).to.deep.equal(['c 1', 'b 2', 'a 1'])
        expect(await etag('a')).to.not.equal(before)
      }))

    it('BatchUpdate with touchOnly returns entities that have neither etag nor update_time', () =>
      inAcme(async () => {
        const { notes } = holder.subject
        for (const name of ['m', 'n']) await notes.create({ name, text: name, stars: 1 })
        const touch = (key: string) =>
          ({ key, entity: { stars: 9 }, fieldMask: [], touchOnly: true }) as const
        const touched = await notes.batchUpdate([touch('n'), touch('m')])
        expect(touched.map(({ name, stars }) => `${name} ${stars}`)).to.deep.equal(['n 1', 'm 1'])
        await rejection(notes.batchUpdate([touch('m'), touch('nobody')]), ErrNotFound)
      }))

    const full = { ...EVERY_KIND, note: 'n', rank: 1 }
    const mask = Object.keys(EVERY_KIND).map((name) =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    )
    const fieldMask = ['note', 'rank', 'webhook_secret', ...(mask as 'title'[])] as const

    for (const [what, entity, stored] of [
      ['values of every kind', full, full],
      ['absent values', {}, { title: '', note: undefined, dueTime: undefined, labels: [], big: 0n }],
    ] as const)
      it(`BatchUpdate writes ${what} that all items share, at one time and each with an etag of its own`, () =>
        inAcme(async () => {
          await make('a', 'b', 'c')
          const item = (key: string) => ({ key, entity, fieldMask })
          const updated = await holder.subject.specimens.batchUpdate([item('c'), item('a')])
          for (const [i, id] of ['c', 'a'].entries()) {
            expect(updated[i]).to.deep.include({ id, ...stored })
            expect(await holder.subject.specimens.get(id)).to.deep.equal(updated[i])
          }
          const [c, a] = updated
          expect(c?.updateTime).to.deep.equal(a?.updateTime)
          expect(c?.etag).not.to.equal(a?.etag)
          expect(await counts()).to.deep.equal(['a:1', 'b:1', 'c:1'])
        }))

    it('BatchUpdate writes every kind of value, absent ones included', () =>
      inAcme(async () => {
        await make('a', 'b', 'c')
        const [a, b, c] = await holder.subject.specimens.batchUpdate([
          { key: 'c', entity: { ...full, webhookSecret: 'hush' }, fieldMask },
          { key: 'a', entity: {}, fieldMask },
          { key: 'b', entity: { ...full, title: `"{}\\',NULL` }, fieldMask },
        ])
        expect(a).to.deep.include({ id: 'c', ...full })
        expect(b).to.deep.include({
          id: 'a',
          title: '',
          note: undefined,
          dueTime: undefined,
          labels: [],
          big: 0n,
        })
        expect(c).to.deep.include({ id: 'b', ...full, title: `"{}\\',NULL` })
        expect(await holder.subject.specimens.revealWebhookSecret('c')).to.equal('hush')
      }))

    const failures = [
      ['a missing key', () => [count('a', 5), count('nobody', 5), count('c', 5)], ErrNotFound],
      ['a missing key first', () => [count('0-nobody', 5), count('a', 5)], ErrNotFound],
      ['an unknown mask name', () => [count('a', 5), count('b', 5, ['nope'])], InvalidArgument],
      ['a duplicate key', () => [count('a', 5), count('a', 6)], InvalidArgument],
      [
        'a unique value that is taken',
        () => [count('a', 5), { key: 'b', entity: { code: 'taken' }, fieldMask: ['code'] as const }],
        ErrConflict,
      ],
    ] as const
    for (const [what, items, type] of failures)
      it(`BatchUpdate with ${what} fails and modifies nothing`, () =>
        inAcme(async () => {
          await make('a', 'b')
          await holder.subject.specimens.create(draft({ id: 'c', code: 'taken', count: 1 }))
          await rejection(holder.subject.specimens.batchUpdate(items()), type)
          expect(await counts()).to.deep.equal(['a:1', 'b:1', 'c:1'])
        }))

    it('BatchUpdate writes in key order: a unique value that a lower key leaves is free, one that a higher key leaves is not', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const id of ['a', 'b']) await specimens.create(draft({ id, code: `code-${id}` }))
        const to = (key: string, code: string, more: object = {}) => ({
          key,
          entity: { code, ...more },
          fieldMask: ['code', ...Object.keys(more)] as ['code'],
        })
        for (const more of [{}, { title: 'T' }]) {
          await rejection(specimens.batchUpdate([to('b', 'free'), to('a', 'code-b', more)]), ErrConflict)
          await specimens.batchUpdate([to('b', 'code-a'), to('a', 'free', more)])
          await specimens.batchUpdate([to('a', 'swapped'), to('b', 'code-b', more)])
          await specimens.batchUpdate([to('a', 'code-a')])
        }
      }))

    it('BatchUpdate with a soft-deleted key fails and modifies nothing', () =>
      inAcme(async () => {
        await make('a', 'b')
        await holder.subject.specimens.delete('b')
        await rejection(holder.subject.specimens.batchUpdate([count('a', 5), count('b', 5)]), ErrNotFound)
        expect(await counts()).to.deep.equal(['a:1'])
      }))

    it('BatchDelete deletes all, or nothing when a key is missing, deleted or named twice', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        await make('a', 'b', 'c', 'd')
        await specimens.delete('d')
        await rejection(specimens.batchDelete(['a', 'nobody']), ErrNotFound)
        await rejection(specimens.batchDelete(['a', 'd']), ErrNotFound)
        await rejection(specimens.batchDelete(['a', 'a']), InvalidArgument)
        expect(await counts()).to.deep.equal(['a:1', 'b:1', 'c:1'])
        await specimens.batchDelete(['c', 'a'])
        expect(await counts()).to.deep.equal(['b:1'])
      }))

    it("a key of another tenant fails the batch, and the other's row stays as it was", async () => {
      const { specimens } = holder.subject
      await asTenant('globex', () => make('theirs'))
      await inAcme(async () => {
        await make('a')
        await rejection(specimens.batchGet(['a', 'theirs']), ErrNotFound)
        await rejection(specimens.batchUpdate([count('a', 5), count('theirs', 5)]), ErrNotFound)
        await rejection(specimens.batchDelete(['a', 'theirs']), ErrNotFound)
        expect(await counts()).to.deep.equal(['a:1'])
      })
      expect(await asTenant('globex', counts)).to.deep.equal(['theirs:1'])
    })

    it('an empty input returns an empty result', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        expect(await specimens.batchGet([])).to.deep.equal([])
        expect(await specimens.batchUpdate([])).to.deep.equal([])
        expect(await specimens.batchDelete([])).to.equal(undefined)
      }))

    it('holds at most 1000 keys', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        const keys = Array.from({ length: 1001 }, (_, i) => `k${i}`)
        for (const attempt of <(() => Promise<unknown>)[]>[
          () => specimens.batchGet(keys),
          () => specimens.batchDelete(keys),
          () => specimens.batchUpdate(keys.map((key) => count(key, 1))),
        ])
          await rejection(Promise.resolve().then(attempt), InvalidArgument, 'at most 1000')
        await rejection(specimens.batchGet(keys.slice(1)), ErrNotFound)
      }))

    it('batches in opposite orders do not deadlock', () =>
      inAcme(async () => {
        const ids = ['a', 'b', 'c', 'd', 'e']
        await make(...ids)
        const batch = (keys: string[], to: number) =>
          holder.subject.specimens.batchUpdate(keys.map((key) => count(key, to)))
        await Promise.all(Array.from({ length: 10 }, (_, i) => batch(i % 2 ? ids : [...ids].reverse(), i)))
        expect(new Set((await counts()).map((text) => text.slice(2))).size).to.equal(1)
      }))
  })
}
