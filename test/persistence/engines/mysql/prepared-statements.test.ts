import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { Unavailable, UnknownOutcome } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import type { Database } from '../../../../lib/persistence/engines/executor/executor.js'
import { named } from '../../../../lib/persistence/engines/executor/named.js'
import { ownServer, type StartedService } from '../../../support/running/start-services.js'

describe('prepared statements of MySQL and MariaDB', () => {
  let server: StartedService
  let dataSource: DataSource
  let admin: DataSource
  let database: Database

  before(async function () {
    server = await ownServer('mysql', this)
    admin = await new DataSource({ type: 'mysql', url: at('mysql'), poolSize: 1 }).initialize()
    await admin.query('CREATE DATABASE shapes')
    dataSource = await new DataSource({ type: 'mysql', url: at('shapes'), poolSize: 2 }).initialize()
    await dataSource.query('CREATE TABLE t (n int)')
    database = executorOf(dataSource)
  })
  after(async () => {
    await dataSource?.destroy()
    await admin?.destroy()
    await server?.stop()
  })
  afterEach(() => limit(16_382))

  const at = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const limit = (count: number) => admin?.query(`SET GLOBAL max_prepared_stmt_count = ${count}`)
  const open = async () => {
    const [{ Value }] = (await admin.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")) as [
      { Value: string },
    ]
    return Number(Value)
  }
  const shapes = (from: number, count: number) =>
    Array.from({ length: count }, (_one, i) => named(`SELECT n + ${from + i} AS m FROM t WHERE n = ?`))

  it('are at most 128 of a connection, those that were used last', async () => {
    const lease = await database.lease()
    try {
      const all = shapes(0, 200)
      for (let again = 0; again < 3; again++) for (const one of all) await lease.run(one, [1])
      expect(await open()).to.equal(128)
      expect((await lease.run(all[0]!, [1])).rows).to.deep.equal([])
    } finally {
      lease.release()
    }
  })

  it('make room for one another where the server has none', async () => {
    const lease = await database.lease()
    try {
      const [first, ...others] = shapes(1000, 20)
      for (const one of [first!, ...others]) for (let again = 0; again < 2; again++) await lease.run(one, [1])
      await limit(await open())
      await database.run(named('INSERT INTO t VALUES (1)'), []).catch((error: unknown) => {
        expect(error).to.be.instanceOf(Unavailable)
      })
      for (const one of shapes(2000, 5)) await lease.run(one, [1])
    } finally {
      lease.release()
    }
  })

  it('that nobody has room for are Unavailable, and have done nothing', async () => {
    await limit(0)
    for (const text of ['SELECT 1 AS one', 'INSERT INTO t VALUES (7)', 'UPDATE t SET n = 8']) {
      const error = await database.run(named(text), []).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error, text).to.be.instanceOf(Unavailable).and.not.instanceOf(UnknownOutcome)
      expect((error as Error).message).to.equal(
        'the database accepts no more prepared statements now: retry later',
      )
    }
    await limit(16_382)
    expect(
      (await database.run(named('SELECT COUNT(*) AS n FROM t WHERE n IN (7, 8)'), [])).rows,
    ).to.deep.equal([['0']])
  })
})
