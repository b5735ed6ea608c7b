import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { emit, type OwnEvent } from '../../../lib/persistence/emit.js'
import { inAcme, rejection } from '../repository/subject.js'
import type { ToldHolder } from './reported-subject.js'

class Stop extends Error {}

/** Events of an application's own. */
export const own = (holder: ToldHolder): void => {
  const paid = (more: Partial<OwnEvent> = {}) =>
    emit({ resource: 'order', verb: 'paid', key: 'o-1', ...more })
  const inside = (fn: () => Promise<unknown>) => inAcme(() => holder.subject.transaction(fn))

  describe('emit', () => {
    it('writes an event in the transaction around it, among those of the repositories', async () => {
      await inside(async () => {
        await holder.subject.of.ledgers.create({ id: 'a', title: 'T', pages: 1 })
        await paid({ data: { by: 'card' } })
      })
      const [, event] = await holder.subject.events()
      expect(event).to.include({ account: 'acme', resource: 'order', key: 'o-1', type: 'order.paid' })
      expect(event?.event).to.deep.include({ source: '/order', subject: 'o-1', data: { by: 'card' } })
    })

    it('is rolled back with the transaction or savepoint', async () => {
      await rejection(
        inside(async () => {
          await paid()
          throw new Stop()
        }),
        Stop,
      )
      await inside(async () => {
        await rejection(
          holder.subject.transaction(async () => {
            await paid({ key: 'inner' })
            throw new Stop()
          }),
          Stop,
        )
        await paid({ key: 'outer' })
      })
      expect((await holder.subject.events()).map(({ key }) => key)).to.deep.equal(['outer'])
    })

    it('is refused outside of a transaction, and after it', async () => {
      await rejection(
        inAcme(() => paid()),
        TypeError,
        'no transaction is open',
      )
      let late: () => Promise<void> = () => Promise.resolve()
      await inside(() => {
        const context = RequestContext.current()
        late = () => emit({ resource: 'order', verb: 'paid', key: 'k' }, { context })
        return Promise.resolve()
      })
      await rejection(late(), TypeError)
      expect(await holder.subject.events()).to.deep.equal([])
    })

    it('fails the transaction that does not await it', async () => {
      await rejection(
        inside(() => {
          void paid()
          return Promise.resolve()
        }),
        TypeError,
        'did not await emit',
      )
      expect(await holder.subject.events()).to.deep.equal([])
    })

    it('is of the tenant of the call, of all, or as system of another', async () => {
      await inside(async () => {
        await rejection(paid({ tenant: 'other' }), PermissionDenied)
        await paid({ tenant: '' })
        await RequestContext.asSystem(() => paid({ tenant: 'other' }))
        await RequestContext.asSystem(() => rejection(paid(), PermissionDenied))
      })
      expect((await holder.subject.events()).map(({ account }) => account)).to.deep.equal(['', 'other'])
    })

    for (const wrong of [{ resource: '' }, { resource: 'a.b' }, { verb: '*' }, { key: '' }, { key: 'a\0b' }])
      it(`rejects ${JSON.stringify(wrong)}`, () => inside(() => rejection(paid(wrong), InvalidArgument)))
  })
}
