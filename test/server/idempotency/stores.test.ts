import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import type {
  Claim,
  IdempotencyStore,
  StoredReply,
} from '../../../lib/server/idempotency/idempotency-store.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { UnrecordedCalls } from '../../../lib/server/idempotency/unrecorded-calls.js'
import { describeOnRedis } from '../../support/databases/on-redis.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

interface Failing extends IdempotencyStore {
  isOut: boolean
  completed: number
}

/** The store, with claims that cannot be completed while it `isOut`. */
const failing = (store: IdempotencyStore): Failing => {
  const self: Failing = {
    isOut: true,
    completed: 0,
    async claim(...asked) {
      const outcome = await store.claim(...asked)
      if (outcome.state !== 'claimed') return outcome
      const { claim } = outcome
      const complete = async (reply: StoredReply, context: RequestContext) => {
        if (self.isOut) throw new Error('the store is out of order')
        self.completed++
        return claim.complete(reply, context)
      }
      return {
        state: 'claimed',
        claim: { renew: (ms) => claim.renew(ms), complete, release: () => claim.release() },
      }
    },
  }
  const transaction = store.transaction?.bind(store)
  return transaction === undefined ? self : Object.assign(self, { transaction })
}

const UNRECORDED =
  'a call with this request_id has run, or may have run, and its response could not be stored: read the resource before you try again'
/** The bytes that a text costs beside itself. */
const HEAD = 4

/** What every store does behind the chain. */
const deduplicates = (open: () => IdempotencyStore): void => {
  let running: RunningServer
  let client: ForeignClient
  let runs = 0
  let answer = ''
  let keys = 0
  let key = ''

  const start = async (idempotencyStore: IdempotencyStore) => {
    running = await startServer(
      (builder) => builder.register(EchoService, { ...echoService, echo: () => (runs++, { text: answer }) }),
      { idempotencyStore },
    )
    client = new ForeignClient(EchoService, running.grpc)
  }
  beforeEach(() => {
    runs = 0
    answer = 'done'
    key = `key-${process.pid}-${Date.now()}-${++keys}`
  })
  afterEach(async () => {
    client.close()
    await running.stop()
  })

  const echo = (): Promise<Outcome> => client.unary('Echo', {}, { ...ALICE, 'idempotency-key': key })
  const overHttp = () => fetch(`${running.http}/v1/echo`, post({ ...ALICE, 'idempotency-key': key }))

  it('replays a response of 256 KiB', async () => {
    await start(open())
    answer = 'x'.repeat(256 * 1024 - HEAD)
    expect((await echo()).code).to.equal(0)
    const again = await echo()
    expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
    expect([again.answer?.['text'] === answer, runs]).to.deep.equal([true, 1])
  })

  it('does not keep a larger one, says so to a duplicate, and does not run the call again', async () => {
    await start(open())
    answer = 'x'.repeat(256 * 1024 - HEAD + 1)
    expect((await echo()).answer?.['text'] === answer).to.equal(true)
    const { code, details, trailers } = await echo()
    expect(code).to.equal(9)
    expect(details).to.equal(
      'the call with this request_id was made and its response was not stored, because it is larger than 256 KiB: read the resource instead of repeating the call',
    )
    expect(trailers.get('grpc-status-details-bin').toString()).to.contain('RESPONSE_TOO_LARGE')
    const response = await overHttp()
    expect([response.status, ((await response.json()) as { code: number }).code]).to.deep.equal([400, 9])
    expect(runs).to.equal(1)
  })

  it('tells a duplicate of a call that could not be recorded Aborted, and does not run it again', async () => {
    const store = failing(open())
    await start(store)
    const first = await echo()
    // Where the store took back what the call did, its caller is told that it failed.
    expect(first.code).to.equal(store.transaction === undefined ? 0 : 14)
    for (const isOut of [true, false]) {
      store.isOut = isOut
      const { code, details } = await echo()
      expect([code, details]).to.deep.equal([10, UNRECORDED])
      expect((await overHttp()).status).to.equal(409)
    }
    expect(runs).to.equal(1)
    expect(running.records.map(({ message }) => message)).to.include('a response was not stored')
  })

  it('holds the key of such a call for other processes until its lease ends', async () => {
    const store = open()
    await start(failing(store))
    await echo()
    const wanted = {
      tenant: 'acme',
      subject: 'alice',
      method: '/specimens.v1.EchoService/Echo',
      requestId: key,
    }
    expect((await store.claim(wanted, 'print', 1000)).state).to.equal('running')
  })
}

describe('idempotency with MemoryIdempotencyStore', () => {
  deduplicates(() => new MemoryIdempotencyStore())
})

describeOn('idempotency with SqlIdempotencyStore', databases, (backend) => {
  let opened: OpenBackend
  before(async () => {
    opened = await backend.open([])
    await applyBaseline(opened.dataSource!)
  })
  after(() => opened?.close())

  deduplicates(() => new SqlIdempotencyStore(opened.dataSource!))
})

describeOnRedis('idempotency with RedisIdempotencyStore', (client) => {
  deduplicates(() => new RedisIdempotencyStore(client, { prefix: `ashlar-test:${process.pid}:` }))
})

describe('calls that could not be recorded', () => {
  const store = () => failing(new MemoryIdempotencyStore())
  const claimed = async (from: Failing, requestId: string): Promise<Claim> => {
    const key = { tenant: '', subject: '', method: '', requestId }
    const outcome = await from.claim(key, 'print', 10_000)
    if (outcome.state !== 'claimed') throw new TypeError('the key is taken')
    return outcome.claim
  }

  it('are told to the store, without their response, when it is in order again', async () => {
    const [broken, calls] = [store(), new UnrecordedCalls()]
    for (const key of ['a', 'b']) calls.add(key, await claimed(broken, key), 'failure')
    await calls.retry()
    expect([calls.has('a'), calls.has('b'), broken.completed]).to.deep.equal([true, true, 0])
    broken.isOut = false
    await calls.retry()
    expect([calls.has('a'), calls.has('b'), broken.completed]).to.deep.equal([false, false, 2])
    const key = { tenant: '', subject: '', method: '', requestId: 'a' }
    expect(await broken.claim(key, 'print', 1)).to.deep.include({ state: 'done' })
  })

  it('are remembered for ten minutes where their effect lasts, and for a lease where it was rolled back', async () => {
    let now = 0
    const calls = new UnrecordedCalls(() => now)
    calls.add('lasts', await claimed(store(), 'lasts'), 'failure')
    calls.addRolledBack('gone', 10_000)
    now = 9_999
    expect([calls.has('lasts'), calls.has('gone')]).to.deep.equal([true, true])
    now = 10_000
    expect([calls.has('lasts'), calls.has('gone')]).to.deep.equal([true, false])
    now = 600_000
    expect(calls.has('lasts')).to.equal(false)
  })

  it('are at most 10,000: the oldest is given up', async () => {
    const calls = new UnrecordedCalls()
    for (let n = 0; n <= 10_000; n++) calls.addRolledBack(`${n}`, 10_000)
    expect([calls.has('0'), calls.has('1'), calls.has('10000')]).to.deep.equal([false, true, true])
  })
})
