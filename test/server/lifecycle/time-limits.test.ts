import { expect } from 'chai'
import { mock } from 'node:test'
import { RequestContext } from '../../../lib/context.js'
import { HealthState } from '../../../lib/server/lifecycle/health.js'
import { runChecks } from '../../../lib/server/lifecycle/readiness.js'
import { shutdown } from '../../../lib/server/lifecycle/shutdown.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { MemoryOperationStore } from '../../../lib/server/operations/memory-operation-store.js'
import type { OperationRecord } from '../../../lib/server/operations/operation-store.js'
import { recordingLogger } from '../../support/servers/server.js'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The limits of the specification, on a clock that the test moves. */
describe('the times a server keeps', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('close what has not drained after 5 s, and not before', async () => {
    let closed = 0
    const stuck = { drain: () => new Promise<void>(() => {}), close: () => void closed++ }
    const ended = shutdown([stuck], [])
    mock.timers.tick(4_999)
    await turn()
    expect(closed).to.equal(0)
    mock.timers.tick(1)
    await ended
    expect(closed).to.equal(1)
  })

  it('give a readiness check 2 s, and no more', async () => {
    let aborted = false
    const check = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => (aborted = true))
      return new Promise<void>(() => {})
    }
    let results: readonly { readonly ok: boolean }[] | undefined
    const running = runChecks([{ name: 'stuck', check }]).then((value) => (results = value))
    mock.timers.tick(1_999)
    await turn()
    expect(results).to.equal(undefined)
    mock.timers.tick(1)
    await running
    expect(results?.map(({ ok }) => ok)).to.deep.equal([false])
    expect(aborted).to.equal(true)
  })

  it('ask the checks every 5 s for gRPC health', async () => {
    let asked = 0
    const health = new HealthState(() => [{ name: 'counted', check: () => void asked++ }], recordingLogger())
    await health.start()
    expect(asked).to.equal(1)
    mock.timers.tick(4_999)
    await turn()
    expect(asked).to.equal(1)
    mock.timers.tick(1)
    await turn()
    expect(asked).to.equal(2)
    health.stop()
    mock.timers.tick(20_000)
    await turn()
    expect(asked).to.equal(2)
  })
})

/** How long stores keep what ended, on a clock that the test moves. */
describe('the times a store keeps by default', () => {
  const start = new Date('2026-03-04T05:06:07Z').getTime()
  let at = start
  const now = () => new Date(at)
  beforeEach(() => (at = start))

  it('are ten minutes for a response that may be replayed', async () => {
    const store = new MemoryIdempotencyStore({ now })
    const key = { tenant: 'acme', subject: 'alice', method: '/a.B/C', requestId: '1' }
    const claimed = await store.claim(key, 'fingerprint', 1_000)
    if (claimed.state !== 'claimed') throw new TypeError(claimed.state)
    await claimed.claim.complete(
      {
        type: 'a.D',
        message: new Uint8Array([1]),
        headers: [],
        trailers: [],
      },
      RequestContext.current(),
    )
    const stateAt = async (ms: number) => {
      at = start + ms
      return (await store.claim(key, 'fingerprint', 1)).state
    }
    expect(await stateAt(10 * 60_000 - 1)).to.equal('done')
    expect(await stateAt(10 * 60_000)).to.equal('claimed')
  })

  it('are one hour for an operation that has ended', async () => {
    const store = new MemoryOperationStore({ now })
    const record = { name: 'operations/1', tenant: 'acme', method: '/a.B/C', status: 'pending' }
    await store.create(record as OperationRecord, 'worker', 1_000)
    const end = { status: 'succeeded', response: undefined, failure: undefined } as const
    await store.write('operations/1', 'worker', { end }, 1_000)
    const isThereAt = async (ms: number) => {
      at = start + ms
      return (await store.find('acme', 'operations/1')) !== undefined
    }
    expect(await isThereAt(3_600_000 - 1)).to.equal(true)
    expect(await isThereAt(3_600_000)).to.equal(false)
  })
})
