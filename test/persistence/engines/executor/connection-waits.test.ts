import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { Unavailable } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import {
  ConnectionsHeld,
  ConnectionWaits,
} from '../../../../lib/persistence/engines/executor/connection-waits.js'
import { HotDataSource } from '../../../../lib/persistence/hot-reload/hot-data-source.js'
import { MemoryDatabase } from '../../../../lib/persistence/memory/memory-database.js'
import { SqliteDataSource } from '../../../../lib/persistence/sqlite-data-source.js'
import { transaction } from '../../../../lib/persistence/sql/transaction.js'
import { rejection } from '../../../support/rejection.js'
import { serviceUrl } from '../../../support/running/services.js'
import { column } from '../../../support/databases/statement.js'

/** A database with few connections. */
interface Few {
  readonly size: number
  read(): Promise<unknown>
  transaction<T>(fn: () => Promise<T>): Promise<T>
  close(): Promise<unknown>
}

const onDataSource = async (dataSource: DataSource, size: number): Promise<Few> => {
  await dataSource.initialize()
  const database = executorOf(dataSource)
  return {
    size,
    read: () => column(database, 'SELECT 1 AS one'),
    transaction: (fn) => transaction(dataSource, fn),
    close: () => dataSource.destroy(),
  }
}

function onServer(service: 'postgres' | 'mysql', make: (url: string) => DataSource, size: number) {
  const url = serviceUrl(service)
  return url === undefined ? undefined : onDataSource(make(url), size)
}

const SOURCES: Readonly<Record<string, () => Promise<Few> | undefined>> = {
  'a pool of pg': () =>
    onServer('postgres', (url) => new DataSource({ type: 'postgres', url, poolSize: 3 }), 3),
  'one connection of pg': () =>
    onServer('postgres', (url) => new DataSource({ type: 'postgres', url, poolSize: 1 }), 1),
  'a pool of mysql2': () =>
    onServer('mysql', (url) => new DataSource({ type: 'mariadb', url, poolSize: 2 }), 2),
  'a hot pool on PostgreSQL': () => onServer('postgres', (dsn) => new HotDataSource({ dsn, poolSize: 2 }), 2),
  'a hot pool on MariaDB': () => onServer('mysql', (dsn) => new HotDataSource({ dsn, poolSize: 2 }), 2),
  SQLite: () => onDataSource(new SqliteDataSource({ database: ':memory:' }), 1),
  memory: () => {
    const database = new MemoryDatabase()
    return Promise.resolve<Few>({
      size: 1,
      read: () => database.perform(undefined, 'a read', ({ read }) => read(() => 1)),
      transaction: (fn) => database.transaction(fn),
      close: () => Promise.resolve(),
    })
  },
}

for (const [name, open] of Object.entries(SOURCES))
  describe(`calls that hold a connection and wait for another one, with ${name}`, () => {
    let few: Few
    before(async function () {
      const opening = open()
      if (opening === undefined) return this.skip()
      few = await opening
    })
    after(() => few?.close())

    const each = <T>(start: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: few.size }, (_, index) => start(index)))
    /** All are inside of a transaction when the first one goes on. */
    const together = <T>(inside: () => Promise<T>) => {
      let [arrived, go] = [0, () => {}]
      const everybody = new Promise<void>((resolve) => (go = resolve))
      return each(() =>
        few.transaction(async () => {
          await (++arrived === few.size ? go() : everybody)
          return inside()
        }),
      )
    }
    const detached = () => RequestContext.detached(() => few.read())

    it('are told so at once where all connections are held in this way', async () => {
      const refusals = await together(() => rejection(detached(), ConnectionsHeld))
      for (const { message, code } of refusals) {
        expect(message).to.match(
          few.size === 1
            ? /^the only connection .* is used by a call/
            : /^all \d connections .* are used by calls/,
        )
        expect(code).to.equal('UNAVAILABLE')
      }
      await together(() => Promise.resolve())
      await few.read()
    })

    it('are told so inside of a call that left another transaction', async () => {
      const deeper = (depth: number): Promise<unknown> =>
        few.transaction(() =>
          RequestContext.detached(() => (depth === few.size ? few.read() : deeper(depth + 1))),
        )
      await rejection(deeper(1), ConnectionsHeld)
      await few.read()
    })

    it('do wait where the transaction goes on without them', async () => {
      const late: Promise<unknown>[] = []
      await together(async () => {
        late.push(detached())
        for (const end = performance.now() + 400; performance.now() < end;) {
          await few.transaction(() => Promise.resolve())
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      })
      await Promise.all(late)
    })

    it('do wait for a connection that somebody holds who waits for none', async () => {
      if (few.size === 1) return
      let go = () => {}
      const other = few.transaction(() => new Promise<void>((resolve) => (go = resolve)))
      const waiting = Array.from({ length: few.size - 1 }, () => few.transaction(detached))
      await new Promise((resolve) => setTimeout(resolve, 300))
      go()
      await Promise.all([other, ...waiting])
    })
  })

describe('a caller that waits for a connection', () => {
  const waits = (used: number) => new ConnectionWaits({ database: {}, size: 4, used }, 30)
  const refusal = (used: number) => new Promise<Error>((refuse) => void waits(used).begin(refuse))

  it('is refused after its time, and told why', async () => {
    const error = await refusal(4)
    expect(error).to.be.instanceOf(Unavailable)
    expect(error.message).to.equal(
      'no connection to the database within 0.03 s: all 4 are in use: raise poolSize, or look for transactions that take long',
    )
    expect((await refusal(3)).message).to.match(/: the database accepts none, or other code uses the rest/)
  })

  it('is refused in its order, and not when it has left', async () => {
    const [pool, told]: [ConnectionWaits, number[]] = [waits(4), []]
    const last = new Promise<void>((resolve) => {
      for (let at = 0; at < 5; at++) {
        const end = pool.begin(() => {
          told.push(at)
          if (at === 4) resolve()
        })
        if (at === 2) end()
      }
    })
    await last
    expect(told).to.deep.equal([0, 1, 3, 4])
  })
})
