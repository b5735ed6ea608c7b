import { expect } from 'chai'
import { MigrationError } from '../../../lib/errors.js'
import { migrate, type MigrateOptions } from '../../../lib/migrations/index.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { failureOf, onEachEngine, problemOf, tables } from '../each-engine.js'
import { freshDatabase, type FreshDatabase } from '../fresh-database.js'
import { type LimitedUser, limitedUser } from '../limited-user.js'

async function expectReadOnly(work: Promise<unknown>, sqlState: string): Promise<void> {
  const failure = await failureOf(work)
  expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'readOnly')
  expect(failure).to.have.property('sqlState', sqlState)
  expect(problemOf(failure)).to.have.nested.include({ kind: 'serverRefused', 'advice.kind': 'readOnly' })
}

for (const empty of [false, true])
  onEachEngine(
    empty ? 'an empty database that takes no writes' : 'a database that takes no writes',
    (database) => {
      const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })
      const takesWrites = (does: boolean) =>
        database().rows(
          `ALTER DATABASE ${database().name} SET default_transaction_read_only = ${does ? 'off' : 'on'}`,
        )

      it('says so in the up migration, and is migrated when it takes them again', async () => {
        await takesWrites(false)
        await expectReadOnly(migrator(tables(2)).up(), '25006')
        await takesWrites(true)
        expect((await migrator(tables(2)).up()).applied).to.include('0002_t2')
      })

      if (!empty)
        it('says so in the down migration, and still shows where it stands', async () => {
          await migrator(tables(2)).up()
          await takesWrites(false)
          await expectReadOnly(migrator(tables(2)).down(1), '25006')
          expect((await migrator(tables(2)).status()).map(({ state }) => state)).to.deep.equal([
            ...['applied', 'applied', 'applied'],
          ])
          expect(await migrator(tables(2)).verify()).to.deep.equal([])
          expect(await migrator(tables(2)).up()).to.deep.equal({ applied: [], ahead: [] })
        })
    },
    { dialects: ['postgres'], empty },
  )

describe('a MySQL server that takes no writes', () => {
  let server: StartedService | undefined
  let database: FreshDatabase
  let user: LimitedUser

  before(async function () {
    server = await ownServer('mysql', this)
    database = await freshDatabase(server.url)
    // The administrator may write all the same.
    user = await limitedUser(database, ['GRANT ALL ON * TO USER'])
  })
  after(async () => {
    try {
      await database.close()
    } finally {
      await server?.stop()
    }
  })

  const migrator = (files: MigrateOptions['files']) => migrate({ url: user.url, files })

  it('says so on an empty database, in the up migration and in the down migration', async () => {
    await database.rows('SET GLOBAL read_only = 1')
    await expectReadOnly(migrator(tables(2)).up(), '1290')
    await database.rows('SET GLOBAL read_only = 0')
    await migrator(tables(2)).up()
    await database.rows('SET GLOBAL read_only = 1')
    await expectReadOnly(migrator(tables(2, 3)).up(), '1290')
    await expectReadOnly(migrator(tables(2)).down(1), '1290')
    expect(await migrator(tables(2)).verify()).to.deep.equal([])
  })

  it('says so where transactions are read-only', async () => {
    await database.rows('SET GLOBAL read_only = 0')
    await migrator(tables(2)).up()
    await database.rows('SET GLOBAL tx_read_only = 1')
    await expectReadOnly(migrator(tables(2, 3)).up(), '1792')
  })
})
