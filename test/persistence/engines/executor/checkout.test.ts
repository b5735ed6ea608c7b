import { expect } from 'chai'
import { setMaxListeners } from 'node:events'
import { DataSource } from 'typeorm'
import { Cancelled } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { HotDataSource } from '../../../../lib/persistence/hot-reload/hot-data-source.js'
import { serviceUrl } from '../../../support/running/services.js'
import { column } from '../../../support/databases/statement.js'

const sources: Readonly<Record<string, () => DataSource | undefined>> = {
  'the pool of pg': () => on('postgres', (url) => new DataSource({ type: 'postgres', url, poolSize: 1 })),
  'the pool of mysql2': () => on('mysql', (url) => new DataSource({ type: 'mariadb', url, poolSize: 1 })),
  'a hot pool on PostgreSQL': () => on('postgres', (dsn) => new HotDataSource({ dsn, poolSize: 1 })),
  'a hot pool on MariaDB': () => on('mysql', (dsn) => new HotDataSource({ dsn, poolSize: 1 })),
}

function on(service: 'postgres' | 'mysql', make: (url: string) => DataSource): DataSource | undefined {
  const url = serviceUrl(service)
  return url === undefined ? undefined : make(url)
}

describe('callers that gave up while no connection was free', () => {
  for (const [name, make] of Object.entries(sources))
    it(`do not bring the process down when ${name} gets to them`, async function () {
      const dataSource = make()
      if (dataSource === undefined) return this.skip()
      await dataSource.initialize()
      try {
        const database = executorOf(dataSource)
        const lease = await database.lease()
        const caller = new AbortController()
        setMaxListeners(0, caller.signal)
        const gone = Array.from({ length: 10_000 }, () => database.lease({ signal: caller.signal }))
        const patient = column(database, 'SELECT 1 AS one')
        caller.abort()
        const outcomes = await Promise.allSettled(gone)
        expect(
          outcomes.every((one) => one.status === 'rejected' && one.reason instanceof Cancelled),
        ).to.equal(true)
        lease.release()
        expect(await patient).to.deep.equal(['1'])
      } finally {
        await dataSource.destroy()
      }
    })
})
