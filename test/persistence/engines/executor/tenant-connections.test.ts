import { expect } from 'chai'
import { DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../../decorators/index.js'
import { RequestContext } from '../../../../lib/context.js'
import { DeadlineExceeded } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import type { Database } from '../../../../lib/persistence/engines/executor/executor.js'
import { type Held, TenantTurns } from '../../../../lib/persistence/engines/executor/tenant-turns.js'
import { repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { transaction } from '../../../../lib/persistence/sql/transaction.js'
import { rejection } from '../../../support/rejection.js'
import { serviceUrl } from '../../../support/running/services.js'
import { column } from '../../../support/databases/statement.js'
import { until } from '../../../support/until.js'

@Resource()
@Entity('crates')
@TenantScoped()
class Crate {
  @PrimaryColumn({ length: 40 }) id!: string
  accountId!: string
}

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)

for (const service of ['postgres', 'mysql'] as const)
  describe(`connections of a pool of ${service}`, () => {
    let dataSource: DataSource
    let database: Database
    const open = async (poolSize: number) => {
      const url = serviceUrl(service) ?? ''
      const type = service === 'mysql' ? 'mariadb' : service
      dataSource = await new DataSource({ type, url, poolSize, entities: [Crate] } as never as {
        type: 'postgres'
      }).initialize()
      database = executorOf(dataSource)
    }
    before(function () {
      if (serviceUrl(service) === undefined) this.skip()
    })
    afterEach(() => dataSource?.isInitialized && dataSource.destroy())

    const read = () => column(database, 'SELECT 1 AS one')
    /** Calls that hold a connection until they are released. */
    const held = (tenant: string) => {
      let release = () => {}
      let isRunning = false
      const released = new Promise<void>((resolve) => (release = resolve))
      const done = as(tenant, () =>
        transaction(dataSource, async () => {
          isRunning = true
          await released
        }),
      )
      return {
        done,
        release,
        get isRunning() {
          return isRunning
        },
      }
    }
    const finish = async (...calls: ReturnType<typeof held>[]) => {
      for (const { release } of calls) release()
      await Promise.all(calls.map(({ done }) => done))
    }
    const waiting = (count: number) => until(() => database.use?.waiting === count)

    it('keeps a connection for other tenants', async () => {
      await open(3)
      const many = [held('a'), held('a'), held('a'), held('a')]
      await until(() => many.filter(({ isRunning }) => isRunning).length === 2)
      await waiting(2)
      await as('b', read)
      expect(many.filter(({ isRunning }) => isRunning)).to.have.lengthOf(2)
      await finish(...many)
    })

    it('lets a tenant hold as many as the limit says', async () => {
      await open(4)
      await new (repositoryOf(Crate))(dataSource).startUpCheck({ maxTenantConnections: 1 })
      const many = [held('a'), held('a')]
      await until(() => many.some(({ isRunning }) => isRunning))
      await waiting(1)
      await as('b', read)
      await finish(...many)
    })

    it('takes turns by tenant, also on one connection', async () => {
      await open(1)
      const first = held('a')
      await until(() => first.isRunning)
      const order: string[] = []
      const calls = ['a', 'a', 'a', 'b'].map((tenant) =>
        as(tenant, () => read().then(() => order.push(tenant))),
      )
      await waiting(4)
      await finish(first)
      await Promise.all(calls)
      expect(order).to.deep.equal(['a', 'b', 'a', 'a'])
    })

    it('gives the system, and calls without a tenant, all connections', async () => {
      await open(2)
      const system = Array.from({ length: 2 }, () => {
        let release = () => {}
        const released = new Promise<void>((resolve) => (release = resolve))
        const done = RequestContext.asSystem(() => transaction(dataSource, () => released))
        return { done, release: () => release() }
      })
      await until(() => database.use?.used === 2)
      for (const { release } of system) release()
      await Promise.all(system.map(({ done }) => done))
    })

    it('does not make a call wait that holds a connection', async () => {
      await open(2)
      await as('a', () =>
        transaction(dataSource, () => RequestContext.as({ tenant: 'a', subject: 'eve' }, read)),
      )
    })

    it('leaves the queue with a call that has ended', async () => {
      await open(2)
      const first = held('a')
      await until(() => first.isRunning)
      const end = new AbortController()
      const late = as('a', () => database.run({ text: 'SELECT 1', name: 'one' }, [], { signal: end.signal }))
      await waiting(1)
      end.abort(new DeadlineExceeded())
      await rejection(late, DeadlineExceeded)
      await finish(first)
      await as('a', read)
      expect(database.use).to.include({ used: 0, waiting: 0 })
    })
  })

describe('turns of tenants', () => {
  it('end with no connection taken, whatever the order of calls is', async () => {
    const turns = new TenantTurns(() => 3)
    let seed = 1
    const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n
    const used = new Map<string, number>()
    let most = 0
    const run = async (tenant: string) => {
      const held = turns.takeFree(tenant) ?? (await new Promise<Held>((begin) => turns.wait(tenant, begin)))
      used.set(tenant, (used.get(tenant) ?? 0) + 1)
      most = Math.max(most, ...[...used].filter(([one]) => one !== '').map(([, count]) => count))
      for (let i = random(4); i > 0; i--) await Promise.resolve()
      used.set(tenant, (used.get(tenant) ?? 0) - 1)
      turns.leave(tenant, held)
    }
    await Promise.all(Array.from({ length: 2000 }, () => run(['', 'a', 'b', 'c'][random(4)] ?? '')))
    expect(most).to.equal(2)
    const free = Array.from({ length: 4 }, () => turns.takeFree('') !== undefined)
    expect(free).to.deep.equal([true, true, true, false])
  })
})
