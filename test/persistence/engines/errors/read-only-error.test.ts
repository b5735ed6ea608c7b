import { expect } from 'chai'
import { createConnection } from 'mysql2/promise'
import { DataSource, type DataSourceOptions, QueryFailedError } from 'typeorm'
import { Unavailable } from '../../../../lib/errors.js'
import { readOnlyError } from '../../../../lib/persistence/engines/errors/constraint-error.js'
import type { Database, Executor } from '../../../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { HotDataSource } from '../../../../lib/persistence/hot-reload/hot-data-source.js'
import { current, transaction } from '../../../../lib/persistence/sql/transaction.js'
import { toAshlarError } from '../../../../lib/server/observability/to-ashlar-error.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { demotionOf } from '../../../support/databases/demotion.js'
import { drilling } from '../../../support/drill.js'
import { rejection } from '../../../support/rejection.js'
import { ownServer, type StartedService } from '../../../support/running/start-services.js'
import { column, run } from '../../../support/databases/statement.js'

const option = (name: string) =>
  `The MariaDB server is running with the ${name} option so it cannot execute this statement`
const inPostgres = (code: string) => ({ severity: 'ERROR', code, message: 'cannot execute INSERT' })
const inMysql = (errno: number, sqlState: string, message = '') => ({ errno, sqlState, message })

/** As drivers threw them. */
const ERRORS: readonly (readonly [what: string, error: object, isReadOnly: boolean])[] = [
  ['25006 of PostgreSQL', inPostgres('25006'), true],
  ['1290 of --read-only', inMysql(1290, 'HY000', option('--read-only')), true],
  ['1290 of --super-read-only', inMysql(1290, 'HY000', option('--super-read-only')), true],
  ['1290 of --innodb-read-only', inMysql(1290, 'HY000', option('--innodb-read-only')), true],
  ['1290 of --secure-file-priv', inMysql(1290, 'HY000', option('--secure-file-priv')), false],
  ['1792, a read-only transaction', inMysql(1792, '25006'), true],
  ['1836, a read-only mode', inMysql(1836, 'HY000'), true],
  ['1874, InnoDB is read-only', inMysql(1874, 'HY000'), true],
  ['SQLITE_READONLY', { code: 'SQLITE_READONLY', errno: 8 }, true],
  ['SQLITE_READONLY_DBMOVED', { code: 'SQLITE_READONLY_DBMOVED' }, true],
  ['25001, an active transaction', inPostgres('25001'), false],
  ['42501, no privilege', inPostgres('42501'), false],
  ['1142, no privilege', inMysql(1142, '42000'), false],
  ['SQLITE_BUSY', { code: 'SQLITE_BUSY', errno: 5 }, false],
]

describe('readOnlyError', () => {
  for (const [what, fields, isReadOnly] of ERRORS)
    it(`${isReadOnly ? 'is Unavailable for' : 'passes over'} ${what}, TypeORM's error around it or not`, () => {
      const error = Object.assign(new Error('driver'), fields)
      for (const one of [error, new QueryFailedError('INSERT …', ['value'], error)]) {
        expect(readOnlyError(one) instanceof Unavailable).to.equal(isReadOnly)
        const told = toAshlarError(one, { expired: false, cancelled: false })
        expect(told.code).to.equal(isReadOnly ? 'UNAVAILABLE' : 'INTERNAL')
      }
    })
})

const PID: Readonly<Record<string, string>> = {
  postgres: 'SELECT pg_backend_pid()',
  mariadb: 'SELECT CONNECTION_ID()',
  mysql8: 'SELECT CONNECTION_ID()',
}

describeOn(
  'a session that takes no writes',
  databases.filter(({ name }) => name in PID),
  (backend) => {
    let opened: OpenBackend
    let dataSource: DataSource
    let database: Database

    before(async () => {
      opened = await backend.open([])
      const options = { ...opened.dataSource!.options, poolSize: 1 } as DataSourceOptions
      dataSource = await new DataSource(options).initialize()
      database = executorOf(dataSource)
      await run(database, 'CREATE TABLE stone (id int PRIMARY KEY)')
    })
    after(async () => {
      await dataSource?.destroy()
      await opened?.close()
    })

    const readOnly =
      backend.name === 'postgres'
        ? 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY'
        : 'SET SESSION TRANSACTION READ ONLY'
    const session = async () => (await column(database, PID[backend.name]!))[0]
    const insert = (on: Executor = database) => run(on, 'INSERT INTO stone VALUES (1)')
    beforeEach(() => run(database, 'DELETE FROM stone'))

    it('is Unavailable to a write, and is not used again', async () => {
      await run(database, readOnly)
      const before = await session()
      await rejection(insert(), Unavailable, 'accepts no writes')
      expect(await session()).to.not.equal(before)
      await insert()
    })

    it('is kept to the end of its transaction, and not used again', async () => {
      await run(database, readOnly)
      const before = await session()
      const seen = await transaction(database, async () => {
        const on = current(database)
        await rejection(insert(on), Unavailable, 'accepts no writes')
        return column(on, PID[backend.name]!)
      })
      expect(seen).to.deep.equal([before])
      expect(await session()).to.not.equal(before)
      await insert()
    })

    it('is reported until another one takes writes', async () => {
      await database.checkWrites()
      await run(database, readOnly)
      await database.checkWrites()
      await rejection(insert(), Unavailable)
      await run(database, readOnly)
      await rejection(Promise.all([database.checkWrites(), database.checkWrites()]), Unavailable, 'no writes')
      await database.checkWrites()
      await insert()
    })

    if (backend.name === 'postgres')
      it('is reported by the readiness check of a HotDataSource, too', async () => {
        const { url } = opened.dataSource!.options as { readonly url: string }
        const hot = await new HotDataSource({ dsn: url, poolSize: 2 }).initialize()
        const demotion = demotionOf(hot)
        try {
          const { check } = hot.readinessCheck()
          await demotion.demote()
          await check()
          await rejection(insert(executorOf(hot)), Unavailable, 'accepts no writes')
          await rejection(check(), Unavailable, 'accepts no writes')
          await demotion.promote()
          while ((await check().catch(() => 'not ready')) !== undefined);
        } finally {
          await demotion.promote()
          await hot.destroy()
        }
      })
  },
)

/** On the server of the run it would stand in everybody's way. */
if (drilling)
  describeOn(
    'a server that takes no writes',
    databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
    (backend) => {
      const isPostgres = backend.name === 'postgres'
      let server: StartedService
      let dataSource: DataSource
      let admin: (text: string) => Promise<unknown>
      let close: () => Promise<void>

      before(async function () {
        server = await ownServer(isPostgres ? 'postgres' : 'mysql', this)
        if (isPostgres) {
          const root = await new DataSource({ type: 'postgres', url: server.url }).initialize()
          admin = (text) => root.query(text)
          close = () => root.destroy()
          await admin(`CREATE ROLE app LOGIN`)
          await admin('CREATE TABLE stone (id int PRIMARY KEY)')
          await admin('GRANT ALL ON stone TO app')
        } else {
          const root = await createConnection(server.url)
          admin = (text) => root.query(text)
          close = () => root.end()
          await admin(`CREATE USER app@localhost`)
          await admin('CREATE TABLE stone (id int PRIMARY KEY)')
          await admin('GRANT ALL ON test.* TO app@localhost')
        }
        const url = Object.assign(new URL(server.url), { username: 'app' }).href
        dataSource = await new DataSource({ type: isPostgres ? 'postgres' : 'mariadb', url }).initialize()
      })
      after(async () => {
        await dataSource?.destroy()
        await close?.()
        await server?.stop()
      })

      const turn = async (state: 'on' | 'off') => {
        if (!isPostgres) return admin(`SET GLOBAL read_only = ${state}`)
        await admin(`ALTER SYSTEM SET default_transaction_read_only = ${state}`)
        await admin('SELECT pg_reload_conf()')
        const isSo = async () =>
          (await column(executorOf(dataSource), 'SHOW default_transaction_read_only'))[0] === state
        while (!(await isSo()));
        return undefined
      }

      it('is Unavailable on sessions made before and after, and is reported until it takes them again', async () => {
        const database = executorOf(dataSource)
        let id = 0
        const insert = () => run(database, `INSERT INTO stone VALUES (${++id})`)
        const leases = await Promise.all(Array.from({ length: 5 }, () => database.lease()))
        for (const lease of leases) lease.release()
        await insert()
        await turn('on')
        for (let n = 0; n < 12; n++) {
          await rejection(insert(), Unavailable, 'accepts no writes')
          await rejection(database.checkWrites(), Unavailable, 'accepts no writes')
        }
        expect(await column(database, 'SELECT count(*) FROM stone')).to.deep.equal(['1'])
        await turn('off')
        await database.checkWrites()
        await insert()
      })

      if (!isPostgres)
        it('keeps nothing of a transaction that it refuses to commit, and says so', async () => {
          const database = executorOf(dataSource)
          const writing = transaction(database, async () => {
            await run(current(database), 'INSERT INTO stone VALUES (99)')
            await turn('on')
          })
          await rejection(writing, Unavailable, 'accepts no writes')
          await turn('off')
          expect(await column(database, 'SELECT id FROM stone WHERE id = 99')).to.deep.equal([])
        })
    },
  )
