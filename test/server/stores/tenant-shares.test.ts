import { expect } from 'chai'
import fc from 'fast-check'
import { Queue } from '../../../lib/server/stores/queue.js'
import { type Held, TenantShares } from '../../../lib/server/stores/tenant-shares.js'
import { drill } from '../../support/drill.js'

const LIMITS = { maxBytes: 800, maxTenantBytes: 300, maxTenantEntries: 6 }

interface Step {
  readonly what: 'add' | 'resize' | 'settle' | 'extend' | 'delete' | 'sweep'
  readonly key: number
  readonly tenant: number
  readonly bytes: number
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.constantFrom('add', 'add', 'add', 'resize', 'settle', 'settle', 'extend', 'delete', 'sweep'),
    key: fc.nat(40),
    tenant: fc.nat(5),
    bytes: fc.nat(200),
  }),
  { maxLength: 200 },
)

describe('TenantShares', () => {
  it('holds what it is given, within its bounds, and takes room from nobody but the tenant that needs it', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const shares = new TenantShares<Held>(LIMITS)
        let held: Held[] = []
        let now = 0
        for (const { what, key, tenant, bytes } of history) {
          const name = `${tenant}/${key}`
          const known = shares.get(name)
          const before = held
          now++
          if (what === 'add' && known === undefined) {
            const entry: Held = { key: name, tenant: `${tenant}`, bytes, until: now + 50, isSettled: false }
            if (shares.add(entry)) held = [...held, entry]
          } else if (known !== undefined) {
            if (what === 'resize' && !known.isSettled) shares.resize(known, bytes)
            if (what === 'settle') shares.settle(known, now + 30)
            if (what === 'extend') shares.extend(known, known.isSettled ? known.until : now + 50)
            if (what === 'delete') shares.delete(known)
          }
          if (what === 'sweep') shares.sweep(now, (lapsed) => shares.delete(lapsed))
          held = held.filter((entry) => shares.get(entry.key) === entry)

          const lost = before.filter((entry) => !held.includes(entry))
          if (what === 'add' || what === 'resize')
            expect(lost.every((entry) => entry.isSettled && entry.tenant === `${tenant}`)).to.equal(true)
          if (what === 'settle' || what === 'extend') expect(lost).to.deep.equal([])
          if (what === 'sweep')
            expect(held.filter((entry) => entry.isSettled && entry.until <= now)).to.deep.equal([])
          const sum = held.reduce((bytes, entry) => bytes + entry.bytes, 0)
          expect(shares.bytes).to.equal(sum).and.to.be.at.most(LIMITS.maxBytes)
          for (let each = 0; each <= 5; each++) {
            const own = held.filter((entry) => entry.tenant === `${each}`)
            expect([...shares.ofTenant(`${each}`)]).to.have.members(own)
            expect(own.length).to.be.at.most(LIMITS.maxTenantEntries)
            expect(own.reduce((bytes, entry) => bytes + entry.bytes, 0)).to.be.at.most(LIMITS.maxTenantBytes)
          }
        }
      }),
      { numRuns: drill(200, 20_000) },
    )
  })
})

describe('Queue', () => {
  it('takes out any item, and keeps the order of the others', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (orders) => {
        const queue = new Queue<number>()
        let places: ReturnType<typeof queue.push>[] = []
        for (const [item, order] of orders.entries()) {
          const out = order < 5 ? places[order] : undefined
          if (out === undefined) places.push(queue.push(item))
          else {
            queue.remove(out)
            places = places.filter((place) => place !== out)
          }
          expect(queue.first).to.equal(places[0]?.item)
        }
        for (const place of places) {
          expect(queue.first).to.equal(place.item)
          queue.remove(place)
        }
        expect(queue.first).to.equal(undefined)
      }),
      { numRuns: drill(200, 20_000) },
    )
  })
})
