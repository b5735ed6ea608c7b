import { expect } from 'chai'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../../../lib/errors.js'
import type { Specimen } from '../../../support/entities/specimen.js'
import { draft, type Holder, inAcme, rejection } from '../subject.js'

class Stop extends Error {}

/** Reading, changing and writing as one. */
export const modifications = (holder: Holder): void => {
  const specimens = () => holder.subject.specimens
  const grow = ({ count }: Specimen) => ({ count: count + 1 })

  describe('modify', () => {
    beforeEach(() =>
      inAcme(async () => {
        await specimens().create(draft({ id: 'a', count: 1, rank: 5 }))
      }),
    )

    it('writes the properties that the function returns, and no other', () =>
      inAcme(async () => {
        const before = await specimens().get('a')
        const after = await specimens().modify('a', async ({ count }) => {
          await specimens().get('a')
          return { count: count + 1, rank: undefined as never }
        })
        expect([after.count, after.rank, after.title]).to.deep.equal([2, undefined, before.title])
        expect(after.etag).not.to.equal(before.etag)
        expect(await specimens().get('a')).to.deep.equal(after)
      }))

    it('writes nothing if it returns no property', () =>
      inAcme(async () => {
        const before = await specimens().get('a')
        expect(await specimens().modify('a', () => ({}))).to.deep.equal(before)
        expect(await specimens().get('a')).to.deep.equal(before)
      }))

    it('rejects the entity itself, values that are not objects, and properties that cannot be written', () =>
      inAcme(async () => {
        const before = await specimens().get('a')
        await rejection(
          specimens().modify('a', (current) => current),
          TypeError,
          /not the entity/,
        )
        await rejection(
          specimens().modify('a', () => undefined as never),
          TypeError,
          /not undefined/,
        )
        await rejection(
          specimens().modify('a', () => ({ nope: 1 }) as never),
          TypeError,
          /no property "nope"/,
        )
        await rejection(
          specimens().modify('a', () => ({ etag: 'x' })),
          TypeError,
          /cannot be written/,
        )
        await rejection(
          specimens().modify('a', () => ({ id: 'b' })),
          TypeError,
          /cannot be written/,
        )
        await rejection(
          specimens().modify('a', () => ({ apiKey: 'x' }) as never),
          TypeError,
          /cannot be written/,
        )
        expect(await specimens().get('a')).to.deep.equal(before)
      }))

    it('compares an etag before the function runs', () =>
      inAcme(async () => {
        const { etag } = await specimens().get('a')
        expect((await specimens().modify('a', grow, { ifMatch: etag })).count).to.equal(2)
        const never = () => expect.fail('it ran')
        await rejection(specimens().modify('a', never, { ifMatch: etag }), ErrPreconditionFailed)
        await rejection(specimens().modify('nobody', never), ErrNotFound)
      }))

    it('is taken back when the function throws, or the write conflicts', () =>
      inAcme(async () => {
        await specimens().create(draft({ id: 'b', code: 'taken' }))
        const before = await specimens().get('a')
        const failing = specimens().modify('a', async () => {
          await specimens().create(draft({ id: 'c' }))
          throw new Stop()
        })
        await rejection(failing, Stop)
        await rejection(
          specimens().modify('a', () => ({ code: 'taken' })),
          ErrConflict,
        )
        expect(await specimens().get('a')).to.deep.equal(before)
        await rejection(specimens().get('c'), ErrNotFound)
      }))

    it('rejects options that are out of range, and does not throw', async () => {
      const modifying = specimens().modify('a', grow, { maxAttempts: 0 })
      await rejection(modifying, RangeError, 'maxAttempts is 0')
    })

    it('is a savepoint of the transaction around it, which has its own retries', () =>
      inAcme(async () => {
        const failing = specimens().transaction(async () => {
          expect((await specimens().modify('a', grow)).count).to.equal(2)
          await rejection(specimens().modify('a', grow, { maxAttempts: 2 }), TypeError, /outermost/)
          throw new Stop()
        })
        await rejection(failing, Stop)
        expect((await specimens().get('a')).count).to.equal(1)
      }))
  })
}
