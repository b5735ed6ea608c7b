import { expect } from 'chai'
import { setMaxListeners } from 'node:events'
import { RequestContext } from '../../../lib/context.js'
import { Cancelled, DeadlineExceeded, Unavailable } from '../../../lib/errors.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { ConnectionKiller } from '../../support/databases/connection-killer.js'
import { column } from '../../support/databases/statement.js'
import { rejection } from '../../support/rejection.js'
import { until } from '../../support/until.js'
import { everyCall, ManyReaders } from './many-readers.js'

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('merged reads', postgres, (backend) => {
  let readers: ManyReaders
  before(async () => {
    readers = await ManyReaders.open(backend)
  })
  after(() => readers?.close())

  describe('that fail', () => {
    /** Statements fail as `fails` says. Returns how many have. */
    const failing = async <T>(
      fails: (calls: number, values: readonly unknown[]) => Error | undefined,
      fn: () => Promise<T>,
    ) => {
      let failures = 0
      const result = await readers.changed(
        (send) => async (statement, values, options) => {
          const error = fails(options?.calls ?? 1, values)
          if (error === undefined) return send(statement, values, options)
          failures++
          throw error
        },
        fn,
      )
      return { result, failures }
    }

    it('run again alone, each', async () => {
      const specimens = await readers.warm()
      const { result, failures } = await failing(
        (calls) => (calls > 1 ? new TypeError('planted') : undefined),
        () => readers.getAll(specimens),
      )
      expect(failures).to.be.greaterThan(0)
      expect(result.map(({ accountId, id }) => [accountId, id])).to.deep.equal(
        everyCall.map(({ tenant, key }) => [tenant, key]),
      )
    })

    it('because of one call fail that call alone, whose tenant goes out alone then', async () => {
      const specimens = await readers.warm()
      const poison = (_: number, values: readonly unknown[]) =>
        values.flat().includes('poison') ? new TypeError('planted') : undefined
      const calls = [
        ...everyCall.slice(0, 32),
        { tenant: 'umbrella', key: 'poison' },
        ...everyCall.slice(32, 48),
      ]
      const get = ({ tenant, key }: (typeof calls)[0]) => readers.get(specimens, { tenant, key })
      await failing(poison, async () => {
        const outcomes = await Promise.allSettled(calls.map(get))
        for (const [i, outcome] of outcomes.entries())
          expect(outcome.status, `${i}`).to.equal(i === 32 ? 'rejected' : 'fulfilled')
        readers.sent = []
        await Promise.allSettled(calls.map(get))
        expect(readers.together).to.have.length.greaterThan(0)
        for (const { values } of readers.together) expect(values[1]).to.not.include('umbrella')
      })
    })

    it('with the connection are Unavailable to every call, and nothing runs again', async () => {
      const specimens = await readers.warm()
      const { result, failures } = await failing(
        (calls) => (calls > 1 ? new Unavailable('the connection to the database was lost') : undefined),
        () => Promise.allSettled(everyCall.map((asked) => readers.get(specimens, asked))),
      )
      const failed = result.filter(({ status }) => status === 'rejected')
      expect(failed).to.have.length.greaterThan(20)
      for (const outcome of failed) expect(outcome).to.have.property('reason').instanceOf(Unavailable)
      expect(readers.sent).to.have.length(everyCall.length - failed.length)
      expect(failures).to.be.within(1, everyCall.length - readers.sent.length)
    })

    it('with a connection that the server ends are Unavailable to those in flight, and later calls succeed', async () => {
      const specimens = await readers.warm()
      const killer = new ConnectionKiller(readers.dataSource)
      const ids = await killer.handedOut(10)
      const calls = Promise.allSettled(everyCall.map((asked) => readers.get(specimens, asked)))
      await killer.kill(ids[0]!).catch(() => {})
      for (const outcome of await calls)
        if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(Unavailable)
      await killer.idle().catch(() => {})
      await readers.getAll(specimens).catch(() => {})
      await readers.getAll(specimens)
    })
  })

  it('keep nobody waiting while a statement of theirs is stuck', async () => {
    const specimens = await readers.warm()
    let release = () => {}
    const stuck = new Promise<void>((resolve) => (release = resolve))
    let isFirst = true
    await readers.changed(
      (send) => async (statement, values, options) => {
        if (isFirst && (options?.calls ?? 1) > 1) {
          isFirst = false
          await stuck
        }
        return send(statement, values, options)
      },
      async () => {
        const calls = readers.getAll(specimens)
        while (isFirst) await new Promise((resolve) => setImmediate(resolve))
        await readers.getAll(specimens)
        release()
        await calls
      },
    )
  })

  it('are not kept waiting by a tenant that holds a row, nor by the writes that wait for it', async () => {
    const specimens = await readers.warm()
    const [hold, release] = [new AbortController(), new AbortController()]
    const write = () => specimens.update('k1', { title: 'later' }, ['title'])
    const holding = asTenant('acme', () =>
      specimens.transaction(async () => {
        await write()
        hold.abort()
        await aborted(release.signal)
      }),
    )
    await aborted(hold.signal)
    const waiting = [asTenant('acme', write), asTenant('acme', write)]
    const rows = await readers.getAll(specimens)
    expect(rows.find(({ accountId, id }) => accountId === 'acme' && id === 'k1')?.title).to.equal('acme k1')
    expect(readers.together).to.have.length.greaterThan(0)
    release.abort()
    await Promise.all([holding, ...waiting])
  })

  describe('of callers that leave', () => {
    const context = (tenant: string, signal: AbortSignal) => {
      setMaxListeners(0, signal)
      return new RequestContext({ principal: { tenant, subject: 'ada', groups: [], scopes: [] }, signal })
    }

    /** While the table is locked, so that no read ends. */
    async function whileLocked<T>(fn: (unlock: () => Promise<void>) => Promise<T>): Promise<T> {
      const lease = await readers.database.lease()
      await lease.control('BEGIN')
      await lease.control('LOCK TABLE specimens IN ACCESS EXCLUSIVE MODE')
      let isLocked = true
      const unlock = async () => {
        if (isLocked) await lease.control('ROLLBACK')
        isLocked = false
      }
      try {
        return await fn(unlock)
      } finally {
        await unlock()
        lease.release()
      }
    }

    it('end at once for these, and go on for the others', async () => {
      const specimens = await readers.warm()
      const leaving = new AbortController()
      const late = new AbortController()
      const staying = new AbortController()
      await whileLocked(async (unlock) => {
        const calls = everyCall.map(({ tenant, key }, i) =>
          specimens.get(key, { context: context(tenant, [leaving, late, staying][i % 3]!.signal) }),
        )
        const outcomes = calls.map((call) =>
          call.then(
            () => 'found',
            (error: unknown) => error,
          ),
        )
        await until(() => readers.together.length > 0)
        leaving.abort()
        late.abort(new DeadlineExceeded())
        const alone = readers.sent.filter(({ calls }) => calls === 1).length
        for (const [i, outcome] of outcomes.entries()) {
          if (i < alone) continue // A statement of its own waits for the cancellation.
          if (i % 3 === 0) expect(await outcome).to.be.instanceOf(Cancelled)
          if (i % 3 === 1) expect(await outcome).to.be.instanceOf(DeadlineExceeded)
        }
        await unlock()
        for (const [i, outcome] of outcomes.entries())
          if (i % 3 === 2) expect(await outcome).to.equal('found')
      })
    })

    it('cancel the statement when all have left', async () => {
      const specimens = await readers.warm()
      const leaving = new AbortController()
      await whileLocked(async () => {
        const calls = everyCall.map(({ tenant, key }) =>
          rejection(specimens.get(key, { context: context(tenant, leaving.signal) }), Cancelled),
        )
        await until(() => readers.together.length > 0)
        leaving.abort()
        await Promise.all(calls)
        const waiting = () =>
          column(
            readers.database,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          )
        await until(async () => (await waiting())[0] === '0')
      })
    })

    it('are never sent when they have left before', async () => {
      const specimens = await readers.warm()
      const gone = AbortSignal.abort()
      const calls = everyCall.map(({ tenant, key }) => specimens.get(key, { context: context(tenant, gone) }))
      for (const call of calls) await rejection(call, Cancelled)
      expect(readers.together).to.deep.equal([])
    })
  })
})
