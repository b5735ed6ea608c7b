import { expect } from 'chai'
import { CallQueue } from '../../../lib/persistence/merging/call-queue.js'
import { MergedRead, type Sought } from '../../../lib/persistence/merging/merged-read.js'
import { RoundTrip } from '../../../lib/persistence/merging/round-trip.js'

/** How many other calls are started together with each. */
const CROWD = 20

/**
 * Sends each call that can share a statement through the statement of several, alone in it.
 * @returns a function that ends this.
 */
export function mergeEach(): () => void {
  const { enter } = CallQueue.prototype
  const { isSole } = MergedRead.prototype
  CallQueue.prototype.enter = () => undefined
  MergedRead.prototype.isSole = () => false
  return () => {
    CallQueue.prototype.enter = enter
    MergedRead.prototype.isSole = isSole
  }
}

/**
 * Starts each call that can share a statement together with 20 others, of other tenants and of other keys, and has only one
 * statement in flight. Each of the others has to return its own row or none.
 * @returns a function that ends this. It throws what the others have found.
 */
export function mergeInCrowds(): () => void {
  const { run, isSole } = MergedRead.prototype as MergedRead<unknown>
  const { limit } = RoundTrip.prototype
  const wrong: unknown[] = []
  const others = function (this: MergedRead<unknown>, count: number, { value, tenant }: Sought) {
    for (let i = 0; i < count; i++) {
      const isOfTenant = tenant !== undefined && i % 2 === 0
      const sought = isOfTenant
        ? { value, tenant: TENANTS[i % TENANTS.length] }
        : { value: `${value}${i}`, tenant }
      const checked = async () => {
        const found: unknown = await run.call(this, sought, {}).catch(() => undefined)
        if (found !== undefined) expect(this.read.soughtIn(found)).to.deep.equal(sought)
      }
      void checked().catch((error: unknown) => wrong.push(error))
    }
  }
  RoundTrip.prototype.limit = () => 1
  MergedRead.prototype.isSole = () => false
  MergedRead.prototype.run = function (sought, options) {
    others.call(this, CROWD / 2, sought)
    const result = run.call(this, sought, options)
    others.call(this, CROWD / 2, sought)
    return result
  }
  return () => {
    Object.assign(MergedRead.prototype, { run, isSole })
    RoundTrip.prototype.limit = limit
    if (wrong.length > 0) throw wrong[0]
  }
}

/** Those of the suites first, so that the others find rows with the same key. */
const TENANTS: readonly string[] = ['acme', 'globex', 'initech', 'crowd-1', 'crowd-2']
