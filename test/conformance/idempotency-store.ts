import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import {
  type Claim,
  type ClaimOutcome,
  type IdempotencyKey,
  type IdempotencyStore,
  MAX_KEPT_BYTES,
  type StoredReply,
  omittedReply,
} from '../../lib/server/idempotency/idempotency-store.js'
import { drill } from '../support/drill.js'

/** A store with a way to let time pass for it. */
export interface IdempotencySubject {
  readonly store: IdempotencyStore
  /** Another process' view of the same store. */
  readonly other: IdempotencyStore
  /** How long its answers live, in milliseconds. */
  readonly ttlMs: number
  pass(ms: number): Promise<void>
}

const LEASE_MS = 60_000
const context = new RequestContext()

/** Everything a IdempotencyStore promises. */
export function conformsToIdempotencyStore(open: () => IdempotencySubject): void {
  let count = 0
  const newKey = (): IdempotencyKey => ({
    tenant: 'acme',
    subject: 'alice',
    method: '/a.v1.B/C',
    requestId: `request-${process.pid}-${Date.now()}-${++count}`,
  })

  const reply: StoredReply = {
    type: 'a.v1.D',
    message: Buffer.from([0, 1, 10, 255, 13, 10]),
    headers: [['x-a', 'ä "1"\n']],
    trailers: [
      ['x-b', '2'],
      ['x-b', '3'],
    ],
  }

  const claimed = (outcome: ClaimOutcome): Claim => {
    expect(outcome.state).to.equal('claimed')
    return (outcome as ClaimOutcome & { state: 'claimed' }).claim
  }

  it('keeps keys apart that a column cannot hold as they are', async () => {
    const { store, other } = open()
    const key = newKey()
    const odd = ['\0', 'a\0', '\ud800', '\ud801', 'x'.repeat(5000), `${'x'.repeat(5000)}\0`]
    for (const text of odd)
      for (const part of ['tenant', 'subject', 'requestId'] as const) {
        const one = { ...key, [part]: `${key[part]}${text}` }
        claimed(await store.claim(one, 'print', LEASE_MS))
        expect((await other.claim(one, 'print', LEASE_MS)).state).to.equal('running')
      }
  })

  it('gives a free key to the first caller, and reports to the others that it runs', async () => {
    const { store, other } = open()
    const key = newKey()
    claimed(await store.claim(key, 'print', LEASE_MS))
    for (const one of [store, other]) {
      expect(await one.claim(key, 'another', LEASE_MS)).to.deep.equal({
        state: 'running',
        fingerprint: 'print',
      })
    }
  })

  it('gives it to one of many simultaneous callers', async () => {
    const { store, other } = open()
    const key = newKey()
    const outcomes = await Promise.all(
      Array.from({ length: drill(20, 200) }, (_, n) =>
        (n % 2 === 0 ? store : other).claim(key, 'print', LEASE_MS),
      ),
    )
    expect(outcomes.filter(({ state }) => state === 'claimed')).to.have.length(1)
    expect(outcomes.filter(({ state }) => state === 'running')).to.have.length(outcomes.length - 1)
  })

  it('returns what was kept, byte for byte', async () => {
    const { store, other } = open()
    const key = newKey()
    expect(await claimed(await store.claim(key, 'print', LEASE_MS)).complete(reply, context)).to.equal(true)
    const outcome = await other.claim(key, 'another', LEASE_MS)
    expect(outcome).to.include({ state: 'done', fingerprint: 'print' })
    const kept = (outcome as ClaimOutcome & { state: 'done' }).reply
    expect({ ...kept, message: [...kept.message] }).to.deep.equal({ ...reply, message: [...reply.message] })
  })

  it('keeps the largest response, byte for byte', async () => {
    const { store, other } = open()
    const key = newKey()
    const message = Buffer.alloc(MAX_KEPT_BYTES, 'stone')
    await claimed(await store.claim(key, 'print', LEASE_MS)).complete({ ...reply, message }, context)
    const { reply: kept } = (await other.claim(key, 'print', LEASE_MS)) as { reply: StoredReply }
    expect(Buffer.compare(kept.message, message)).to.equal(0)
  })

  for (const omitted of ['size', 'room', 'failure'] as const)
    it(`stores a call whose response is not stored because of its ${omitted}`, async () => {
      const { store, other } = open()
      const key = newKey()
      const claim = claimed(await store.claim(key, 'print', LEASE_MS))
      expect(await claim.complete(omittedReply(omitted), context)).to.equal(true)
      const outcome = await other.claim(key, 'print', LEASE_MS)
      expect(outcome).to.include({ state: 'done', fingerprint: 'print' })
      const kept = (outcome as ClaimOutcome & { state: 'done' }).reply
      expect({ ...kept, message: [...kept.message] }).to.deep.equal({
        ...omittedReply(omitted),
        message: [],
      })
    })

  it('stores the response of a lapsed claim that no other caller has taken', async () => {
    const { store, other, pass } = open()
    const key = newKey()
    const claim = claimed(await store.claim(key, 'print', LEASE_MS))
    await pass(LEASE_MS + 1)
    // Somebody else's claim is what makes a store look for those that have lapsed.
    claimed(await store.claim(newKey(), 'print', LEASE_MS))
    expect(await claim.complete(reply, context)).to.equal(true)
    expect(await other.claim(key, 'print', LEASE_MS)).to.include({ state: 'done', fingerprint: 'print' })
  })

  it('deletes a response when it expires', async () => {
    const { store, ttlMs, pass } = open()
    const key = newKey()
    await claimed(await store.claim(key, 'print', LEASE_MS)).complete(reply, context)
    await pass(ttlMs + 1)
    claimed(await store.claim(key, 'another', LEASE_MS))
  })

  it('frees a key that is released', async () => {
    const { store, other } = open()
    const key = newKey()
    await claimed(await store.claim(key, 'print', LEASE_MS)).release()
    claimed(await other.claim(key, 'another', LEASE_MS))
  })

  it('frees the key of a dead process when the lease has lapsed', async () => {
    const { store, other, pass } = open()
    const key = newKey()
    claimed(await store.claim(key, 'print', LEASE_MS))
    await pass(LEASE_MS + 1)
    claimed(await other.claim(key, 'another', LEASE_MS))
  })

  it('holds a lease that is renewed', async () => {
    const { store, other, pass } = open()
    const key = newKey()
    const claim = claimed(await store.claim(key, 'print', LEASE_MS))
    await claim.renew(2 * LEASE_MS)
    await pass(LEASE_MS + 1)
    expect((await other.claim(key, 'print', LEASE_MS)).state).to.equal('running')
  })

  it('stores nothing for a claim that another caller took over', async () => {
    const { store, other, pass } = open()
    const key = newKey()
    const late = claimed(await store.claim(key, 'print', LEASE_MS))
    await pass(LEASE_MS + 1)
    const current = claimed(await other.claim(key, 'print', LEASE_MS))
    await late.renew(1)
    expect(await late.complete(reply, context)).to.equal(false)
    await late.release()
    expect((await store.claim(key, 'print', LEASE_MS)).state).to.equal('running')
    expect(await current.complete(reply, context)).to.equal(true)
    expect((await store.claim(key, 'print', LEASE_MS)).state).to.equal('done')
  })

  it('does not release a response', async () => {
    const { store } = open()
    const key = newKey()
    const claim = claimed(await store.claim(key, 'print', LEASE_MS))
    await claim.complete(reply, context)
    await claim.release()
    expect((await store.claim(key, 'print', LEASE_MS)).state).to.equal('done')
  })

  it('distinguishes keys by every part, of any length and case', async () => {
    const { store } = open()
    const key = newKey()
    const long = '鑿'.repeat(255)
    const keys: IdempotencyKey[] = [
      key,
      { ...key, tenant: 'other' },
      { ...key, subject: 'bob' },
      { ...key, method: '/a.v1.B/D' },
      { ...key, requestId: key.requestId.toUpperCase() },
      { ...key, requestId: `${key.requestId} ` },
      { ...key, requestId: `${key.requestId}"],["` },
      { ...key, subject: long },
      { ...key, subject: `${long}x` },
      { ...key, tenant: '', subject: 'acmealice' },
    ]
    for (const one of keys) claimed(await store.claim(one, 'print', LEASE_MS))
  })
}
