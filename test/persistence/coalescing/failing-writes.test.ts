import { expect } from 'chai'
import { setMaxListeners } from 'node:events'
import { RequestContext } from '../../../lib/context.js'
import {
  Cancelled,
  DeadlineExceeded,
  ErrConflict,
  ErrPreconditionFailed,
  Internal,
  Unavailable,
  UnknownOutcome,
} from '../../../lib/errors.js'
import type { Result } from '../../../lib/persistence/engines/executor/executor.js'
import { CoalescedWrites } from '../../../lib/persistence/coalescing/coalesced-calls.js'
import { asTenant, inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { ConnectionKiller } from '../../support/databases/connection-killer.js'
import { drill } from '../../support/drill.js'
import { column } from '../../support/databases/statement.js'
import { until } from '../../support/until.js'
import { everyCall, TENANTS } from './many-readers.js'
import { first, ManyWriters, type Parcel, type Parcels } from './many-writers.js'

const postgres = databases.filter(({ name }) => name === 'postgres')
/** How often a connection is killed while writes are in flight. */
const KILLS = drill(5, 500)
/**
 * The pool learns of a connection that the server has ended when it uses it next, at the latest; it has ten.
 */
const again = async <T>(read: () => Promise<T>, left = 10): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Unavailable) || left === 0) throw error
    return again(read, left - 1)
  }
}

describeOn('merged writes', postgres, (backend) => {
  let writers: ManyWriters
  before(async () => {
    writers = await ManyWriters.open(backend)
  })
  beforeEach(() => writers.reset())
  after(() => writers?.close())

  /** Each changes every row, or makes one beside it. */
  const works: Readonly<Record<string, (parcels: Parcels) => Promise<PromiseSettledResult<unknown>[]>>> = {
    update: (parcels) => writers.all(({ key }, i) => parcels.update(key, { size: i }, ['size'])),
    create: (parcels) => writers.all((asked) => parcels.create({ ...first(asked), title: 'new' })),
    delete: (parcels) => writers.all(({ key }) => parcels.delete(key)),
  }

  /**
   * Statements of several calls that write do something else while a function runs. Resolves to how many did.
   */
  const tampered = async (
    change: (send: () => Promise<Result>) => Promise<Result>,
    fn: () => Promise<unknown>,
  ) => {
    let changed = 0
    await writers.changed(
      (run) => (statement, values, options) => {
        if ((options?.calls ?? 1) === 1 || statement.text.startsWith('SELECT'))
          return run(statement, values, options)
        changed++
        return change(() => run(statement, values, options))
      },
      fn,
    )
    return changed
  }

  const rejected = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
    outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))

  describe('with a fault of the position', () => {
    const faults: Readonly<Record<string, (result: Result) => Result>> = {
      'rows that changed places': (result) => {
        const positions = result.rows.map(([position]) => position)
        positions.push(positions.shift())
        return { ...result, rows: result.rows.map((row, i) => [positions[i], ...row.slice(1)]) }
      },
      'a row without a position': (result) => ({
        ...result,
        rows: result.rows.map((row, i) => (i === 0 ? [null, ...row.slice(1)] : row)),
      }),
      'a row of another tenant': (result) => ({
        ...result,
        rows: result.rows.map((row) =>
          row.map((value) => (TENANTS.includes(value as string) ? 'other' : value)),
        ),
      }),
    }
    for (const [fault, change] of Object.entries(faults))
      for (const [name, work] of Object.entries(works))
        it(`are Internal to every call, and run once: ${name}, ${fault}`, async () => {
          const parcels = await writers.warm()
          let outcomes: PromiseSettledResult<unknown>[] = []
          await tampered(
            async (send) => change(await send()),
            async () => (outcomes = await work(parcels)),
          )
          const failed = rejected(outcomes)
          expect(failed).to.have.length(writers.together.reduce((sum, { calls }) => sum + calls, 0))
          expect(failed).to.have.length.greaterThan(20)
          for (const error of failed) expect(error).to.be.instanceOf(Internal)
          expect(writers.alone).to.have.length(everyCall.length - failed.length)
          const rows = await column(writers.database, 'SELECT count(*) FROM parcels')
          expect(Number(rows[0])).to.equal(name === 'create' ? 2 * everyCall.length : everyCall.length)
        })

    it('are caught by the tenant alone, when the keys are the same', async () => {
      const parcels = await writers.warm()
      let outcomes: PromiseSettledResult<Parcel>[] = []
      const swap = (result: Result) => ({
        ...result,
        rows: result.rows.map((row, i, all) => [all[all.length - 1 - i]?.[0], ...row.slice(1)]),
      })
      const calls = Array.from({ length: 40 }, (_, i) => `tenant-${i}`)
      for (const tenant of calls)
        await asTenant(tenant, () => parcels.create({ ...first({ tenant, key: 'same' }), id: 'same' }))
      const count = await tampered(
        async (send) => swap(await send()),
        async () => {
          const updates = calls.map((tenant, i) =>
            asTenant(tenant, () => parcels.update('same', { size: i }, ['size'])),
          )
          outcomes = await Promise.allSettled(updates)
        },
      )
      expect(count).to.be.greaterThan(0)
      for (const [i, outcome] of outcomes.entries())
        if (outcome.status === 'fulfilled') expect(outcome.value.accountId).to.equal(calls[i])
        else expect(outcome.reason).to.be.instanceOf(Internal)
      expect(rejected(outcomes)).to.have.length.greaterThan(20)
    })
  })

  for (const [name, work] of Object.entries(works)) {
    it(`whose keys cannot be ordered run alone, each: ${name}`, async () => {
      const parcels = await writers.warm()
      const ordered: unknown = Reflect.get(CoalescedWrites.prototype, 'ordered')
      const fail = () => {
        throw new SyntaxError('planted')
      }
      Object.assign(CoalescedWrites.prototype, { ordered: fail })
      try {
        expect(rejected(await work(parcels))).to.deep.equal([])
      } finally {
        Object.assign(CoalescedWrites.prototype, { ordered })
      }
      expect(writers.alone).to.have.length(everyCall.length)
    })

    it(`that fail run again alone, each, and go out alone for a second: ${name}`, async () => {
      const parcels = await writers.warm()
      let outcomes: PromiseSettledResult<unknown>[] = []
      const failing = () =>
        tampered(
          () => Promise.reject(new TypeError('planted')),
          async () => (outcomes = await work(parcels)),
        )
      expect(await failing()).to.be.greaterThan(0)
      expect(rejected(outcomes)).to.deep.equal([])
      const rows = await column(writers.database, 'SELECT count(*) FROM parcels')
      expect(Number(rows[0])).to.equal(name === 'create' ? 2 * everyCall.length : everyCall.length)
      const together = () => writers.together.filter(({ text }) => !text.startsWith('SELECT'))
      // The second of a tenant may end in between, as it does on a busy machine.
      let [failures, left] = [0, 20]
      do {
        failures = await failing()
        writers.sent = []
        await work(parcels)
      } while (failures === 0 || (together().length > 0 && left-- > 0))
      expect(together()).to.deep.equal([])
    })

    it(`on a lost connection are never run again: ${name}`, async () => {
      const parcels = await writers.warm()
      let outcomes: PromiseSettledResult<unknown>[] = []
      const lost = await tampered(
        async (send) => {
          await send()
          throw new UnknownOutcome('planted')
        },
        async () => (outcomes = await work(parcels)),
      )
      expect(lost).to.be.greaterThan(0)
      const failed = rejected(outcomes)
      expect(failed).to.have.length.greaterThan(20)
      for (const error of failed) expect(error).to.be.instanceOf(UnknownOutcome)
      expect(writers.alone).to.have.length(everyCall.length - failed.length)
    })
  }

  it('fail the one call that breaks a rule of the table, whose tenant goes out alone then', async () => {
    await writers.dataSource.query('ALTER TABLE parcels ADD CONSTRAINT fits CHECK (size < 1000)')
    try {
      const parcels = await writers.warm()
      const write = () =>
        writers.all(({ key }, i) => parcels.update(key, { size: i === 40 ? 1000 : i }, ['size']))
      const outcomes = await write()
      expect(writers.together).to.have.length.greaterThan(0)
      for (const [i, outcome] of outcomes.entries())
        if (i === 40) expect(outcome).to.have.property('reason').instanceOf(ErrPreconditionFailed)
        else expect(outcome).to.have.nested.property('value.size', i)
      writers.sent = []
      await write()
      expect(writers.together).to.have.length.greaterThan(0)
      for (const { values } of writers.together) expect(values[1]).not.to.include(everyCall[40]?.tenant)
    } finally {
      await writers.dataSource.query('ALTER TABLE parcels DROP CONSTRAINT fits')
    }
  })

  it(`with a connection that the server ends are told, ${KILLS} times: what is acknowledged is written, nothing twice`, async () => {
    const parcels = await writers.warm()
    const killer = new ConnectionKiller(writers.dataSource)
    for (let round = 0; round < KILLS; round++) {
      const ids = await again(() => killer.handedOut(10))
      const updates = writers.all(({ key }) => parcels.update(key, { size: 100 + round }, ['size']))
      const creates = writers.all((asked, i) => parcels.create({ ...first(asked), title: `${round} ${i}` }))
      await killer.kill(ids[round % ids.length]!).catch(() => {})
      const updated = await updates
      const created = await creates
      await killer.idle().catch(() => {})
      for (const error of [...rejected(updated), ...rejected(created)])
        expect(error).to.be.instanceOf(Unavailable)
      const stored = await again(() => writers.stored())
      for (const [i, outcome] of updated.entries())
        if (outcome.status === 'fulfilled')
          expect(stored[i]).to.deep.include({ size: 100 + round, etag: outcome.value.etag })
      const titles = await again(() =>
        column(writers.database, 'SELECT title FROM parcels WHERE title LIKE ?', [`${round} %`]),
      )
      expect(new Set(titles).size).to.equal(titles.length)
      for (const [i, { status }] of created.entries())
        if (status === 'fulfilled') expect(titles).to.include(`${round} ${i}`)
    }
  })

  describe('of others', () => {
    /** While a transaction of its own has done something that it has not committed. */
    const beside = async (work: () => Promise<unknown>, fn: () => Promise<void>) => {
      let begun = () => {}
      let end = () => {}
      const hasBegun = new Promise<void>((resolve) => (begun = resolve))
      const ending = new Promise<void>((resolve) => (end = resolve))
      const holding = asTenant('acme', () =>
        writers.fresh({ coalesce: 'off' }).transaction(async () => {
          await work()
          begun()
          await ending
        }),
      )
      await hasBegun
      try {
        await fn()
      } finally {
        end()
        await holding
      }
    }
    const parcelsOf = () => writers.fresh({ coalesce: 'off' })
    const foreign = everyCall.filter(({ tenant }) => tenant !== 'acme')
    const foreignCalls = (parcels: Parcels) =>
      foreign.map(({ tenant, key }, i) =>
        asTenant(tenant, async () => {
          if (i % 3 === 0) return parcels.create(first({ tenant, key }))
          return i % 3 === 1 ? parcels.update(key, { size: i }, ['size']) : parcels.delete(key)
        }),
      )

    it('do not wait for a row that a tenant holds, nor for its calls that wait for it', async () => {
      const parcels = await writers.warm()
      let later: Promise<unknown> | undefined
      await beside(
        () => parcelsOf().update('k1', { size: 7 }, ['size']),
        async () => {
          const own = () => inAcme(() => parcels.update('k1', { title: 'later' }, ['title']))
          const waiting = [own(), own()]
          const among = [own(), ...foreignCalls(parcels), own()]
          await Promise.all(among.slice(1, -1))
          writers.sent = []
          await Promise.all(
            foreign.map(({ tenant, key }) => asTenant(tenant, () => parcels.create(first({ tenant, key })))),
          )
          expect(writers.together).to.have.length.greaterThan(0)
          later = Promise.all([...waiting, ...among])
        },
      )
      await later
      expect(await inAcme(() => parcels.get('k1'))).to.include({ size: 7, title: 'later' })
    })

    it('do not wait for a row that is being inserted', async () => {
      const parcels = await writers.warm()
      const chosen = () =>
        inAcme(() => parcels.create({ ...first({ tenant: 'acme', key: 'x' }), id: 'chosen' }))
      let waiting: Promise<PromiseSettledResult<Parcel>[]> | undefined
      await beside(
        () => parcelsOf().create({ ...first({ tenant: 'acme', key: 'x' }), id: 'chosen' }),
        async () => {
          waiting = Promise.allSettled([chosen(), chosen(), chosen()])
          await Promise.all(foreignCalls(parcels))
        },
      )
      for (const error of rejected((await waiting) ?? [])) expect(error).to.be.instanceOf(ErrConflict)
      expect(rejected((await waiting) ?? [])).to.have.length(3)
    })

    it('end at once for callers that leave, and go on for the others', async () => {
      const parcels = await writers.warm()
      const leaving = new AbortController()
      const late = new AbortController()
      const context = (tenant: string, { signal }: AbortController) => {
        setMaxListeners(0, signal)
        return new RequestContext({ principal: { tenant, subject: 'ada', groups: [], scopes: [] }, signal })
      }
      const lease = await writers.database.lease()
      await lease.control('BEGIN')
      await lease.control('LOCK TABLE parcels IN SHARE MODE')
      const calls = everyCall.map(({ tenant, key }, i) => {
        const by = [leaving, late, new AbortController()][i % 3] as AbortController
        const update = parcels.update(key, { size: 500 }, ['size'], { context: context(tenant, by) })
        return update.then(
          ({ size }) => size,
          (error: unknown) => error,
        )
      })
      await until(() => writers.together.length > 0)
      leaving.abort()
      late.abort(new DeadlineExceeded())
      const alone = writers.alone.length
      for (const [i, outcome] of calls.entries()) {
        if (i < alone) continue // A statement of its own waits for the cancellation.
        if (i % 3 === 0) expect(await outcome).to.be.instanceOf(Cancelled)
        if (i % 3 === 1) expect(await outcome).to.be.instanceOf(DeadlineExceeded)
      }
      await lease.control('ROLLBACK')
      lease.release()
      for (const [i, outcome] of calls.entries()) if (i % 3 === 2) expect(await outcome).to.equal(500)
    })
  })
})
