import { expect } from 'chai'
import { InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import { RequestContext } from '../../../lib/context.js'
import type { FilterScope, ListFilter } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { asTenant, draft, type Holder, inAcme, rejection } from './subject.js'

/** How many entities a list has. */
export const counts = (holder: Holder): void => {
  const specimens = () => holder.subject.specimens

  describe('count and exists', () => {
    beforeEach(async () => {
      await inAcme(async () => {
        for (const [id, count] of [
          ['a', 1],
          ['b', 2],
          ['c', 2],
          ['gone', 2],
        ] as const)
          await specimens().create(draft({ id, count }))
        await specimens().delete('gone')
      })
      await asTenant('other', () => specimens().create(draft({ id: 'a', count: 2 })))
    })

    const both = async (list?: ListFilter, scope?: FilterScope) => {
      const count = await specimens().count(list, scope)
      expect(await specimens().exists(list, scope)).to.equal(count > 0)
      return count
    }

    it('include the tenant’s live entities', () =>
      inAcme(async () => {
        expect(await both()).to.equal(3)
        expect(await both({ showDeleted: true })).to.equal(4)
      }))

    it('apply a filter', () =>
      inAcme(async () => {
        expect(await both({ filter: 'count = 2' })).to.equal(2)
        expect(await both({ filter: 'count = 2', showDeleted: true })).to.equal(3)
        expect(await both({ filter: 'count = 3 OR id = "gone"' })).to.equal(0)
        await rejection(specimens().count({ filter: 'nothing = 1' }), InvalidArgument)
        await rejection(specimens().exists({ filter: 'count =' }), InvalidArgument)
      }))

    it('apply the parent as a list does', () =>
      inAcme(async () => {
        const under = filter`count = ${2}`
        expect(await both({}, { under })).to.equal(2)
        expect(await both({ filter: 'id = "a"' }, { under })).to.equal(0)
        expect(await both({}, { under: filter`id = ${'a\0'}` })).to.equal(0)
      }))

    it('include only rows that the call reaches', () =>
      inAcme(async () => {
        const where = filter`count = ${2}`
        expect(await both({}, { where })).to.equal(2)
        expect(await both({ filter: 'id = "b"' }, { where })).to.equal(1)
      }))

    it('stop at a limit', () =>
      inAcme(async () => {
        const count = (limit: number) => specimens().count({}, { limit })
        expect([await count(1), await count(2), await count(3), await count(1e9)]).to.deep.equal([1, 2, 3, 3])
        for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
          await rejection(count(limit), TypeError, /positive integer/)
      }))

    it('include all tenants for the system, and nothing without a tenant', async () => {
      expect(await RequestContext.asSystem(() => both())).to.equal(4)
      expect(await RequestContext.asSystem({ tenant: 'other' }, () => both())).to.equal(1)
      await rejection(specimens().count(), PermissionDenied)
      await rejection(specimens().exists(), PermissionDenied)
    })

    it('join the current transaction', () =>
      inAcme(async () => {
        await specimens().transaction(async () => {
          await specimens().create(draft({ id: 'd' }))
          expect(await both()).to.equal(4)
        })
      }))
  })
}
