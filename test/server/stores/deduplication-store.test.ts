import { expect } from 'chai'
import { createClient } from 'redis'
import { RequestContext } from '../../../lib/context.js'
import { MemoryDeduplicationStore } from '../../../lib/server/stores/memory-deduplication-store.js'
import { RedisDeduplicationStore } from '../../../lib/server/stores/redis-deduplication-store.js'
import { SqlDeduplicationStore } from '../../../lib/server/stores/sql-deduplication-store.js'
import {
  conformsToDeduplicationStore,
  type DeduplicationSubject,
} from '../../conformance/deduplication-store.js'
import { applyBaseline } from '../../support/baseline.js'
import { databases, describeOn, type OpenBackend } from '../../support/backends.js'
import { serviceUrl } from '../../support/services.js'
import { leftOut } from '../../support/summary.js'

/** The database's clock cannot be handed in, so its stores are given short lives and these tests wait for them. */
const really = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const SHORT_MS = 400

describe('MemoryDeduplicationStore', () => {
  let now = 0
  conformsToDeduplicationStore((): DeduplicationSubject => {
    const store = new MemoryDeduplicationStore({ now: () => new Date(now) })
    return { store, other: store, ttlMs: 10 * 60_000, pass: async (ms) => void (now += ms) }
  })

  it('keeps no more than it may, and never drops a claim', async () => {
    const store = new MemoryDeduplicationStore({ maxEntries: 2 })
    const key = (requestId: string) => ({ tenant: '', subject: '', method: '', requestId })
    const reply = { type: '', message: Buffer.alloc(0), headers: [], trailers: [] }
    await store.claim(key('running'), '', 1000)
    for (const id of ['a', 'b', 'c']) {
      const outcome = await store.claim(key(id), '', 1000)
      if (outcome.state === 'claimed') await outcome.claim.complete(reply, new RequestContext())
    }
    const states = await Promise.all(
      ['running', 'a'].map(async (id) => (await store.claim(key(id), '', 1000)).state),
    )
    expect(states).to.deep.equal(['running', 'claimed'])
  })
})

describeOn('SqlDeduplicationStore', databases, (backend) => {
  let opened: OpenBackend
  let subject: DeduplicationSubject

  before(async () => {
    opened = await backend.open([])
    const { dataSource } = opened
    if (dataSource === undefined) throw new TypeError('no database')
    await applyBaseline(dataSource)
    const store = new SqlDeduplicationStore(dataSource, { ttlMs: SHORT_MS })
    const other = new SqlDeduplicationStore(dataSource, { ttlMs: SHORT_MS })
    subject = { store, other, ttlMs: SHORT_MS, pass: really }
  })

  after(() => opened?.close())

  conformsToDeduplicationStore(() => subject)

  it('takes back an answer together with what it stands for', async () => {
    const { store } = subject
    const key = { tenant: 'acme', subject: 'alice', method: '/a.v1.B/C', requestId: 'rolled-back' }
    const outcome = await store.claim(key, 'print', 60_000)
    const reply = { type: 'a.v1.D', message: Buffer.alloc(0), headers: [], trailers: [] }
    const failing = store.transaction?.(new RequestContext(), async (context) => {
      if (outcome.state === 'claimed') expect(await outcome.claim.complete(reply, context)).to.equal(true)
      throw new RangeError('after the answer was kept')
    })
    expect(await failing?.catch((error: unknown) => error)).to.be.instanceOf(RangeError)
    expect((await store.claim(key, 'print', 60_000)).state).to.equal('running')
  })
})

describe('RedisDeduplicationStore', function () {
  const url = serviceUrl('redis')
  if (url === undefined) {
    leftOut('RedisDeduplicationStore', 'no Redis')
    it('has no server to talk to', function () {
      this.skip()
    })
    return
  }
  const client = createClient({ url })
  before(() => client.connect())
  after(() => client.close())

  const prefix = `ashlar-test:${process.pid}:`
  conformsToDeduplicationStore(() => {
    const open = () => new RedisDeduplicationStore(client, { ttlMs: SHORT_MS, prefix })
    return { store: open(), other: open(), ttlMs: SHORT_MS, pass: really }
  })
})
