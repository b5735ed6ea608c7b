import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ResourceExhausted } from '../../../lib/errors.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { conformsToIdempotencyStore, type IdempotencySubject } from '../../conformance/idempotency-store.js'
import { describeOnRedis } from '../../support/databases/on-redis.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { agedRows } from '../../support/databases/statement.js'
import { databases, describeOn, type OpenBackend, pooled } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { visitsOf } from '../../support/entities/visits.js'

const TEN_MINUTES_MS = 10 * 60_000

describe('MemoryIdempotencyStore', () => {
  let now = 0
  conformsToIdempotencyStore((): IdempotencySubject => {
    const store = new MemoryIdempotencyStore({ now: () => new Date(now) })
    return { store, other: store, ttlMs: TEN_MINUTES_MS, pass: async (ms) => void (now += ms) }
  })

  const MIB = 1024 * 1024
  const keyOf = (tenant: string, requestId: string) => ({ tenant, subject: '', method: '', requestId })
  const replyOf = (bytes: number) => ({ type: '', message: Buffer.alloc(bytes), headers: [], trailers: [] })
  const complete = async (store: MemoryIdempotencyStore, tenant: string, id: string, bytes = 0) => {
    const outcome = await store.claim(keyOf(tenant, id), '', 1000)
    if (outcome.state === 'claimed') await outcome.claim.complete(replyOf(bytes), new RequestContext())
    return outcome.state
  }
  /** What a duplicate finds: its answer, that there was one, or nothing. */
  const found = async (store: MemoryIdempotencyStore, tenant: string, id: string) => {
    const outcome = await store.claim(keyOf(tenant, id), '', 1000)
    return outcome.state === 'done' ? (outcome.reply.omitted ?? 'done') : outcome.state
  }

  it('keeps no more than it may, and never drops a claim', async () => {
    const store = new MemoryIdempotencyStore({ maxEntries: 2 })
    await store.claim(keyOf('', 'running'), '', 1000)
    for (const id of ['a', 'b', 'c']) await complete(store, '', id)
    expect([await found(store, '', 'running'), await found(store, '', 'a')]).to.deep.equal([
      'running',
      'claimed',
    ])
  })

  it('keeps the newest responses of a tenant, as many bytes as its share has', async () => {
    const store = new MemoryIdempotencyStore({ maxBytes: 8 * MIB, maxTenantBytes: 2 * MIB })
    for (let n = 0; n < 100; n++) await complete(store, 'acme', `${n}`, 100_000)
    const kept: string[] = []
    for (let n = 99; n >= 70; n--) kept.push(await found(store, 'acme', `${n}`))
    expect(kept.filter((state) => state === 'done').length).to.be.within(18, 20)
    expect(kept.slice(0, 18).every((state) => state === 'done')).to.equal(true)
  })

  it('holds 16 MiB of one tenant and 64 MiB of all by default, whoever asks for more', async () => {
    const store = new MemoryIdempotencyStore()
    const [large, tenants] = [250_000, 8]
    for (let n = 0; n < 100; n++)
      for (let tenant = 0; tenant < tenants; tenant++) await complete(store, `${tenant}`, `${n}`, large)
    const bytesOf = async (tenant: string) => {
      let bytes = 0
      for (let n = 0; n < 100; n++) {
        const outcome = await store.claim(keyOf(tenant, `${n}`), '', 1000)
        if (outcome.state === 'done') bytes += outcome.reply.message.byteLength
      }
      return bytes
    }
    const held: number[] = []
    for (let tenant = 0; tenant < tenants; tenant++) held.push(await bytesOf(`${tenant}`))
    expect(Math.max(...held)).to.be.within(large, 16 * MIB)
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).to.be.within(32 * MIB, 64 * MIB)
  })

  it('never gives up the response of one tenant for another, however many there are and whatever they send', async () => {
    const store = new MemoryIdempotencyStore({ maxBytes: 8 * MIB })
    expect(await complete(store, 'acme', 'mine', 1000)).to.equal('claimed')
    for (let n = 0; n < 200; n++)
      for (let tenant = 0; tenant < 20; tenant++)
        await complete(store, `flood-${tenant}`, `${n}`, n % 2 === 0 ? 250_000 : 0).catch(() => {})
    expect(await found(store, 'acme', 'mine')).to.equal('done')
  })

  it('has room for a tenant that comes when others have taken all they could', async () => {
    const store = new MemoryIdempotencyStore({ maxBytes: 8 * MIB })
    for (let n = 0; n < 100; n++)
      for (let tenant = 0; tenant < 10; tenant++) await complete(store, `flood-${tenant}`, `${n}`, 100_000)
    await complete(store, 'late', 'mine', 1000)
    expect(await found(store, 'late', 'mine')).to.equal('done')
  })

  it('remembers that there was a response which it has no room for', async () => {
    const store = new MemoryIdempotencyStore({ maxBytes: 8 * MIB, maxTenantBytes: 100_000 })
    await complete(store, 'acme', 'large', 200_000)
    expect(await found(store, 'acme', 'large')).to.equal('room')
  })

  it('refuses a call rather than forget one that runs', async () => {
    const store = new MemoryIdempotencyStore({ maxEntries: 2 })
    for (const id of ['a', 'b']) await store.claim(keyOf('acme', id), '', 1000)
    const refusal = await rejection(store.claim(keyOf('acme', 'c'), '', 1000), ResourceExhausted)
    expect(refusal.wireMessage).to.equal('too many calls with a request_id are running: retry later')
    expect((await store.claim(keyOf('other', 'c'), '', 1000)).state).to.equal('claimed')
  })

  it('takes a claim without walking those that are there', async () => {
    const work = async (size: number) => {
      const store = new MemoryIdempotencyStore({ maxEntries: 10 })
      for (let n = 0; n < size; n++) await store.claim(keyOf(`${n}`, 'a'), '', 1000)
      return visitsOf(() => void store.claim(keyOf('one', 'more'), '', 1000))
    }
    expect(await work(4000)).to.equal(await work(1000))
  })
})

describeOn('SqlIdempotencyStore', [...databases, ...pooled], (backend) => {
  let opened: OpenBackend
  let subject: IdempotencySubject

  before(async () => {
    opened = await backend.open([])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) throw new TypeError('no database')
    await applyBaseline(dataSource)
    const open = () => new SqlIdempotencyStore(dataSource)
    const pass = (ms: number) => agedRows(database, 'idempotency_keys', ['lease_until', 'expires_at'], ms)
    subject = { store: open(), other: open(), ttlMs: TEN_MINUTES_MS, pass }
  })

  after(() => opened?.close())

  conformsToIdempotencyStore(() => subject)

  it('takes back a response together with what it stands for', async () => {
    const { store } = subject
    const key = { tenant: 'acme', subject: 'alice', method: '/a.v1.B/C', requestId: 'rolled-back' }
    const outcome = await store.claim(key, 'print', 60_000)
    const reply = { type: 'a.v1.D', message: Buffer.alloc(0), headers: [], trailers: [] }
    const failing = store.transaction?.(new RequestContext(), async (context) => {
      if (outcome.state === 'claimed') expect(await outcome.claim.complete(reply, context)).to.equal(true)
      throw new RangeError('after the response was kept')
    })
    expect(await failing?.catch((error: unknown) => error)).to.be.instanceOf(RangeError)
    expect((await store.claim(key, 'print', 60_000)).state).to.equal('running')
  })
})

/** Lets time pass for keys: what is left to them is less. */
const AGED = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  redis.call('PEXPIRE', key, redis.call('PTTL', key) - ARGV[2])
end`

describeOnRedis('RedisIdempotencyStore', (client) => {
  const prefix = `ashlar-test:${process.pid}:`
  conformsToIdempotencyStore(() => {
    const open = () => new RedisIdempotencyStore(client, { prefix })
    const pass = async (ms: number) =>
      void (await client.eval(AGED, { keys: [], arguments: [`${prefix}*`, String(ms)] }))
    return { store: open(), other: open(), ttlMs: TEN_MINUTES_MS, pass }
  })
})
