import { fromJson } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { RequestContext } from '../../../../lib/context.js'
import {
  Aborted,
  ErrConflict,
  ErrNotFound,
  ErrPreconditionFailed,
  InvalidArgument,
} from '../../../../lib/errors.js'
import { increment, type Patch } from '../../../../lib/resource/values/increment.js'
import { Specimen } from '../../../support/entities/specimen.js'
import { SpecimenSchema } from '../../../support/gen/specimens_pb.js'
import type { BackendName } from '../../../support/databases/backends.js'
import { filter } from '../../../../lib/persistence/query/filter-template.js'
import { asTenant, draft, type Holder, inAcme, rejection } from '../subject.js'

/** In these a transaction that writes is alone. */
const ALONE: readonly BackendName[] = ['memory', 'sqlite', 'better-sqlite3']

/** A write of these fails where it meets a row that others have changed since the transaction began. */
const ONE_SNAPSHOT: readonly BackendName[] = ['postgres', 'pgbouncer']

/** The column of these engines ends where int64 ends. */
const NARROW_UINT64: readonly BackendName[] = ['sqlite', 'better-sqlite3']

/** Numbers that are added to where they are stored. */
export const increments = (holder: Holder, backend: BackendName): void => {
  const specimens = () => holder.subject.specimens
  const make = (values: Partial<Specimen> = {}) => specimens().create(draft({ id: 'a', ...values }))
  const update = (patch: Patch<Specimen>, ...rest: readonly [{ readonly ifMatch: string }?]) =>
    specimens().update('a', patch, Object.keys(patch) as ['count'], ...rest)

  describe('increment', () => {
    const maxUint64 = NARROW_UINT64.includes(backend) ? 2n ** 63n - 1n : 2n ** 64n - 1n

    it('adds to numbers of every type, and writes the rest of the patch', () =>
      inAcme(async () => {
        const before = await make({
          count: -5,
          weight: 4_000_000_000,
          big: 2n ** 62n,
          huge: 2n ** 62n + 1n,
          score: 0.5,
          span: 3n,
        })
        const patch = {
          title: 'Marble',
          count: increment(7),
          weight: increment(1n),
          big: increment(2n ** 60n + 1n),
          huge: increment(2),
          score: increment(0.25),
          span: increment(-4n),
          rank: increment(9),
        }
        const after = await update(patch)
        expect(after).to.deep.include({
          title: 'Marble',
          count: 2,
          weight: 4_000_000_001,
          big: 2n ** 62n + 2n ** 60n + 1n,
          huge: 2n ** 62n + 3n,
          score: 0.75,
          span: -1n,
          rank: 9,
          note: before.note,
        })
        expect(after.etag).not.to.equal(before.etag)
        expect(await specimens().get('a')).to.deep.equal(after)
        const more = await update({ count: increment(-9), weight: increment(-1), huge: increment(-3n) })
        expect(more).to.deep.include({ count: -7, weight: 4_000_000_000, huge: 2n ** 62n })
        const typed = await specimens().list({
          filter: `count = -7 AND huge = ${2n ** 62n} AND score = 0.75`,
        })
        expect(typed.items.map(({ id }) => id)).to.deep.equal(['a'])
      }))

    const EDGES: readonly (readonly [keyof Specimen, number | bigint, number | bigint])[] = [
      ['count', -(2 ** 31), 2 ** 31 - 1],
      ['rank', -(2 ** 31), 2 ** 31 - 1],
      ['weight', 0, 2 ** 32 - 1],
      ['big', -(2n ** 63n), 2n ** 63n - 1n],
      ['huge', 0n, maxUint64],
      ['span', -(2n ** 63n), 2n ** 63n - 1n],
      ['score', -Number.MAX_VALUE, Number.MAX_VALUE],
    ]
    for (const [property, lowest, highest] of EDGES)
      it(`reaches the limits of the range of ${property}, and not beyond`, () =>
        inAcme(async () => {
          const one = property === 'score' ? 2 ** 971 : typeof lowest === 'bigint' ? 1n : 1
          const sum = (a: number | bigint, b: number | bigint) =>
            typeof a === 'bigint' ? a + (b as bigint) : a + (b as number)
          const add = (by: number | bigint) => update({ [property]: increment(by) })
          for (const [end, step, most] of [
            [highest, one, highest],
            [lowest, -one, lowest < 0 ? lowest : -highest],
          ] as const) {
            await holder.subject.clear()
            await make({ [property]: sum(end, -step) })
            expect((await add(step))[property]).to.equal(end)
            const before = await specimens().get('a')
            for (const by of [step, most]) {
              const error = await rejection(add(by), InvalidArgument, /would not be from/)
              expect(error.field).to.equal(property)
            }
            expect(await specimens().get('a')).to.deep.equal(before)
          }
          expect((await add(highest))[property]).to.equal(sum(lowest, highest))
        }))

    it('counts an unset number as 0, which has a range as well', () =>
      inAcme(async () => {
        await make()
        expect((await update({ rank: increment(-2), span: increment(5) })).rank).to.equal(-2)
        await rejection(update({ weight: increment(-1) }), InvalidArgument)
        await rejection(update({ huge: increment(-1) }), InvalidArgument)
      }))

    it('rejects more than the type can hold, in either direction', () =>
      inAcme(async () => {
        await make({ count: -1, huge: 3n })
        for (const [patch, field] of [
          [{ count: increment(2 ** 31) }, 'count'],
          [{ count: increment(2n ** 70n) }, 'count'],
          [{ weight: increment(-(2 ** 32)) }, 'weight'],
          [{ big: increment(2n ** 63n) }, 'big'],
          [{ huge: increment(-(2n ** 64n)) }, 'huge'],
        ] as const)
          expect((await rejection(update(patch), InvalidArgument)).field).to.equal(field)
        await rejection(update({ score: increment(2n ** 60n + 1n) }), TypeError, /is not a double/)
        await update({ score: increment(Number.MAX_VALUE) })
        await rejection(update({ score: increment(Number.MAX_VALUE) }), InvalidArgument)
        await update({ score: increment(-Number.MAX_VALUE) })
        expect((await specimens().get('a')).score).to.equal(0)
      }))

    it('reports why nothing was written: missing row, then etag, then range', () =>
      inAcme(async () => {
        const { etag } = await make({ weight: 1 })
        const patch = { weight: increment(-2) }
        await rejection(specimens().update('b', patch, ['weight']), ErrNotFound)
        await rejection(update(patch, { ifMatch: 'other' }), ErrPreconditionFailed)
        await rejection(update(patch, { ifMatch: '' }), ErrPreconditionFailed)
        await rejection(update(patch, { ifMatch: etag }), InvalidArgument)
        expect((await update({ weight: increment(2) }, { ifMatch: etag })).weight).to.equal(3)
        await rejection(update({ weight: increment(2) }, { ifMatch: etag }), ErrPreconditionFailed)
        await asTenant('globex', () => rejection(update(patch), ErrNotFound))
        const where = filter`title = ${'Marble'}`
        await rejection(specimens().update('a', patch, ['weight'], { where }), ErrNotFound)
        await specimens().delete('a')
        await rejection(update(patch), ErrNotFound)
      }))

    it('is for numbers that an update may write, and for an integer by integers', () =>
      inAcme(async () => {
        await make({ count: 1 })
        const before = await specimens().get('a')
        const by = increment(1) as never
        for (const property of ['title', 'active', 'phase', 'blob', 'dueTime', 'labels', 'tags', 'origin'])
          await rejection(
            specimens().update('a', { [property]: by }, [
              property === 'dueTime' ? 'due_time' : property,
            ] as never),
            TypeError,
            /increment\(\) is for numbers/,
          )
        await rejection(update({ ratio: increment(1) }), TypeError, /use a double/)
        for (const [property, name] of [
          ['id', 'id'],
          ['etag', 'etag'],
          ['updateTime', 'update_time'],
          ['accountId', 'account_id'],
          ['webhookSecret', 'webhook_secret'],
          ['apiKey', 'api_key'],
        ] as const)
          await rejection(specimens().update('a', { [property]: by }, [name] as never), InvalidArgument)
        for (const patch of [{ count: increment(0.5) }, { big: increment(0.5) }, { big: increment(2 ** 53) }])
          await rejection(update(patch), TypeError)
        for (const wrong of [NaN, Infinity, '1', null, undefined])
          expect(() => increment(wrong as number)).to.throw(TypeError)
        await rejection(make({ id: 'b', count: by }), TypeError, /Specimen\.create: increment\(\) for count/)
        await rejection(make({ id: by }), TypeError, /increment\(\) for id/)
        expect(await specimens().get('a')).to.deep.equal(before)
      }))

    it('is for numbers to the compiler as well', () =>
      inAcme(async () => {
        await make()
        const by = increment(1)
        // @ts-expect-error -- a text
        await rejection(specimens().update('a', { title: by }, ['title']), TypeError)
        // @ts-expect-error -- an enum
        await rejection(specimens().update('a', { phase: by }, ['phase']), TypeError)
        // @ts-expect-error -- nothing is stored yet
        await rejection(specimens().create({ count: by }), TypeError)
      }))

    it('is nothing that a value could be mistaken for', () =>
      inAcme(async () => {
        await make({ count: 1 })
        for (const fake of [
          { by: 5 },
          JSON.parse(JSON.stringify(increment(5))),
          structuredClone(increment(5)),
        ])
          await rejection(update({ count: fake as never }), InvalidArgument, /must be a number/)
        expect(() => fromJson(SpecimenSchema, { count: { by: 5 } })).to.throw(/int32/)
        const { fromMessage } = specimens().model
        const message = { $typeName: 'specimens.v1.Specimen', id: 'a', count: { by: 5 } } as never
        await rejection(specimens().update('a', fromMessage(message), ['count']), InvalidArgument)
        expect((await specimens().get('a')).count).to.equal(1)
      }))

    it('is for batches, where every item has its own, all or nothing', () =>
      inAcme(async () => {
        for (const id of ['a', 'b', 'c']) await specimens().create(draft({ id, count: 1, weight: 1 }))
        const item = (key: string, entity: Patch<Specimen>) =>
          ({ key, entity, fieldMask: Object.keys(entity) as ['count'] }) as const
        const after = await specimens().batchUpdate([
          item('c', { count: increment(3) }),
          item('a', { count: increment(-1) }),
          item('b', { count: 9 }),
        ])
        expect(after.map(({ count }) => count)).to.deep.equal([4, 0, 9])
        const items = [item('a', { count: increment(1) }), item('b', { weight: increment(-2) })]
        expect((await rejection(specimens().batchUpdate(items), InvalidArgument)).field).to.equal('weight')
        const missing = [item('a', { count: increment(1) }), item('nobody', { count: increment(1) })]
        await rejection(specimens().batchUpdate(missing), ErrNotFound)
        const { etag } = await specimens().get('b')
        const [fresh, stale] = [
          { ...item('b', { count: increment(1) }), ifMatch: etag },
          { ...item('c', { count: increment(1) }), ifMatch: etag },
        ]
        await rejection(specimens().batchUpdate([fresh, stale]), ErrPreconditionFailed)
        const counts = (await specimens().batchGet(['a', 'b', 'c'])).map(({ count }) => count)
        expect(counts).to.deep.equal([0, 9, 4])
      }))

    it('is for modify, and for a full update', () =>
      inAcme(async () => {
        await make({ count: 2 })
        expect(
          (await specimens().modify('a', () => ({ count: increment(3), title: 'Slate' }))).count,
        ).to.equal(5)
        const whole = { ...(await specimens().get('a')), count: increment(1) } as never
        expect((await specimens().update('a', whole, ['*'])).count).to.equal(6)
      }))

    it('works for a resource with neither etag nor tenant', () =>
      inAcme(async () => {
        const { notes } = holder.subject
        await notes.create({ name: 'n', text: 'x', stars: 1 })
        expect((await notes.update('n', { stars: increment(0) }, ['stars'])).stars).to.equal(1)
        expect((await notes.update('n', { stars: increment(2) }, ['stars'])).stars).to.equal(3)
        await rejection(notes.update('n', { stars: increment(2 ** 31 - 1) }, ['stars']), InvalidArgument)
        await rejection(notes.update('m', { stars: increment(1) }, ['stars']), ErrNotFound)
      }))

    it('leaves a transaction usable after a rejection, and is rolled back with it', () =>
      inAcme(async () => {
        await make({ weight: 1, code: 'mine' })
        await specimens().create(draft({ id: 'b', code: 'taken' }))
        await specimens().transaction(async () => {
          await rejection(update({ weight: increment(-2) }), InvalidArgument)
          await rejection(update({ weight: increment(1), code: 'taken' }), ErrConflict)
          expect((await update({ weight: increment(1) })).weight).to.equal(2)
        })
        class Stop extends Error {}
        const failing = specimens().transaction(async () => {
          await update({ weight: increment(1) })
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect((await specimens().get('a')).weight).to.equal(2)
      }))

    if (!ALONE.includes(backend))
      it('is explained by what others have committed, whatever the transaction sees of it', () =>
        inAcme(async () => {
          await make({ weight: 5 })
          await specimens().transaction(
            async () => {
              expect((await specimens().get('a')).weight).to.equal(5)
              await RequestContext.detached(() => update({ weight: increment(-5) }))
              await rejection(
                update({ weight: increment(-1) }),
                ONE_SNAPSHOT.includes(backend) ? Aborted : InvalidArgument,
              )
            },
            { isolation: 'repeatable read' },
          )
        }))
  })
}
