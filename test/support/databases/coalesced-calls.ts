import { expect } from 'chai'
import { CallQueue } from '../../../lib/persistence/coalescing/call-queue.js'
import { CoalescedCalls, type Requested } from '../../../lib/persistence/coalescing/coalesced-calls.js'
import type { RowWrite } from '../../../lib/persistence/rows/rows.js'
import { RoundTrip } from '../../../lib/persistence/coalescing/round-trip.js'

type Run = Parameters<CoalescedCalls<Requested, unknown>['run']>[1]

/** The number of other calls that start together with each call. */
const CROWD = 20

/** Makes a global change once, and reverts it when the last user has ended. */
function once(begin: () => () => void): () => () => void {
  const users = new Set<object>()
  let end: () => void
  return () => {
    const user = {}
    if (users.size === 0) end = begin()
    users.add(user)
    return () => {
      if (users.delete(user) && users.size === 0) end()
    }
  }
}

/**
 * Makes each call that can share a statement run alone in a shared statement.
 *
 * @returns a function that reverts this.
 */
export const coalesceEach = once(() => {
  const { enter, passes } = CallQueue.prototype
  const { isSole } = CoalescedCalls.prototype
  CallQueue.prototype.enter = () => undefined
  CallQueue.prototype.passes = () => false
  CoalescedCalls.prototype.isSole = () => false
  return () => {
    Object.assign(CallQueue.prototype, { enter, passes })
    CoalescedCalls.prototype.isSole = isSole
  }
})

/**
 * Starts each call that can share a statement together with 20 others, of other tenants and with other keys,
 * and allows only one statement in flight. Each of the others must return its own row or none; writes among
 * them match no row. Creates run without others. When a call is cancelled, the others are, too.
 *
 * @returns a function that reverts this. The last call of it throws the errors of the other calls.
 */
export const coalesceInGroups = once(() => {
  const { run, isSole } = CoalescedCalls.prototype as CoalescedCalls<Requested, unknown>
  const { hasRoom } = RoundTrip.prototype
  const wrong: unknown[] = []
  const start = function (
    this: CoalescedCalls<Requested, unknown>,
    crowd: readonly Requested[],
    options: Run,
  ) {
    const { signal, ...call } = options
    for (const requested of crowd) {
      const own = signal instanceof AbortSignal ? AbortSignal.any([signal]) : signal
      const until = own === undefined ? call : { ...call, signal: own }
      const checked = async () => {
        const found: unknown = await run.call(this, requested, until).catch(() => undefined)
        if (found === undefined) return
        expect(this.operation.requestedIn(found)).to.deep.include({
          value: requested.value,
          tenant: requested.tenant,
        })
        expect('write' in requested, 'a written row').to.equal(false)
      }
      void checked().catch((error: unknown) => wrong.push(error))
    }
  }
  RoundTrip.prototype.hasRoom = (statements) => statements === 0
  CoalescedCalls.prototype.isSole = () => false
  CoalescedCalls.prototype.run = function (requested: Requested, options) {
    const crowd = crowdOf(requested)
    start.call(this, crowd.slice(0, CROWD / 2), options)
    const result = run.call(this, requested, options)
    start.call(this, crowd.slice(CROWD / 2), options)
    return result
  }
  return () => {
    Object.assign(CoalescedCalls.prototype, { run, isSole })
    RoundTrip.prototype.hasRoom = hasRoom
    if (wrong.length > 0) throw wrong[0]
  }
})

const NUMBER = /^-?\d+$/
const UUID = /^[\da-f]{8}(?=-)/

/**
 * Returns a different string of the same kind that suites do not use. A string that the database cannot parse
 * would fail all calls.
 */
function otherThan(text: string, i: number): string {
  if (NUMBER.test(text)) return `-${100 + i}`
  return UUID.test(text) ? text.replace(UUID, (0xfeedbe00 + i).toString(16)) : `${text} of ${i}`
}

/** The tenants of the suites come first, so that the other calls find rows with the same key. */
const TENANTS: readonly string[] = ['acme', 'globex', 'initech', 'crowd-1', 'crowd-2']

const readTenant = (tenant: string, i: number): string | undefined =>
  NUMBER.test(tenant) || UUID.test(tenant) ? otherThan(tenant, i) : TENANTS[i % TENANTS.length]

const crowdOf = (requested: Requested & { readonly write?: RowWrite }): readonly Requested[] => {
  const { value, tenant, write } = requested
  if (write?.isKeyMade === true) return []
  return Array.from({ length: CROWD }, (_, i) => {
    const isOfTenant = tenant !== undefined && i % 2 === 0
    if (write === undefined)
      return isOfTenant ? { value, tenant: readTenant(tenant, i) } : { value: otherThan(value, i), tenant }
    const other = isOfTenant
      ? { key: value, tenant: otherThan(tenant, i) }
      : { key: otherThan(value, i), tenant }
    const row = { ...write.row, ...other }
    return { ...requested, value: other.key, tenant: other.tenant, write: { ...write, row } }
  })
}
