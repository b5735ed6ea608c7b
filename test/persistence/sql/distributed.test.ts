import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { Bee, Hive } from '../relations/hives.js'

const TENANTS = ['acme', 'globex', 'initech', 'umbrella']

interface Server {
  readonly url: string
  /** Distributes the tables, which are there. */
  readonly spread: (dataSource: DataSource) => Promise<void>
  readonly end: (dataSource: DataSource) => Promise<void>
}

/** PostgreSQL with an entry of the extension, and nothing behind it. */
const listed = async (): Promise<Server> => {
  const { url, drop } = await testDatabase('postgres')
  const direct = await new DataSource({ type: 'postgres', url, entities: [] }).initialize()
  await direct.query(
    `BEGIN; SET LOCAL allow_system_table_mods = on;
    INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    SELECT 99999, 'citus', extowner, extnamespace, extrelocatable, '0' FROM pg_extension WHERE extname = 'plpgsql';
    COMMIT`,
  )
  await direct.destroy()
  return { url, spread: () => Promise.resolve(), end: drop }
}

/** The recipe of `docs/guides/scaling.md`. */
const citus = (url: string): Server => ({
  url,
  spread: async (dataSource) => {
    await dataSource.query(
      `SET citus.enable_local_reference_table_foreign_keys TO off;
      SELECT create_distributed_table('hives', 'account_id');
      SELECT create_distributed_table('bees', 'account_id', colocate_with => 'hives')`,
    )
  },
  end: async () => {},
})

const behaves = (open: () => Promise<Server>) => {
  let server: Server
  let dataSource: DataSource
  let hives: TypeormRepository<Hive>
  const sent: SentStatement[] = []

  before(async () => {
    server = await open()
    dataSource = await new DataSource({
      ...{ type: 'postgres', url: server.url, entities: [Hive, Bee], poolSize: 3 },
    }).initialize()
    await createTables(dataSource, [Hive, Bee], 'postgres')
    await server.spread(dataSource)
    hives = new TypeormRepository(dataSource, Hive)
    const bees = new TypeormRepository(dataSource, Bee)
    for (const tenant of TENANTS)
      await asTenant(tenant, async () => {
        for (const id of ['b1', 'b2']) await hives.create({ id })
        await bees.create({ id: `bee of ${tenant}`, hiveId: 'b1' })
      })
    watchStatements(dataSource, (statement) => sent.push(statement))
  })
  beforeEach(() => sent.splice(0))
  after(async () => {
    if (dataSource?.isInitialized) {
      await dataSource.query('DROP TABLE IF EXISTS bees, hives')
      await dataSource.destroy()
    }
    await server?.end(dataSource)
  })

  it('lists relations by values, and not by what a setting keeps', async () => {
    for (const tenant of TENANTS)
      await asTenant(tenant, async () => {
        const { items } = await hives.list({ with: ['bees'] })
        expect(items.map(({ id, bees }) => [id, bees?.map((bee) => bee.id)])).to.deep.equal([
          ['b1', [`bee of ${tenant}`]],
          ['b2', []],
        ])
      })
    expect(sent).to.have.length(2 * TENANTS.length)
    for (const { text } of sent) expect(text).to.not.match(/set_config|current_setting/)
  })

  it('sends each call alone', async () => {
    const gets = () =>
      TENANTS.flatMap((tenant) => Array.from({ length: 20 }, () => asTenant(tenant, () => hives.get('b1'))))
    for (let round = 0; round < 3; round++) await Promise.all(gets())
    const calls = sent.filter(({ text }) => text.includes('"hives"'))
    expect(calls.map(({ calls: carried }) => carried).filter((carried) => carried !== 1)).to.deep.equal([])
    expect(calls).to.have.length(3 * 20 * TENANTS.length)
    for (const { values } of calls)
      expect(values.some((value) => TENANTS.includes(value as string))).to.equal(true)
  })
}

const url = process.env['ASHLAR_TEST_CITUS_URL'] ?? ''
const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('a database whose tables are on several servers', postgres, () => {
  describe('as its list of extensions says', () => behaves(listed))
  if (url === '')
    describe.skip('of Citus, which is left out: ASHLAR_TEST_CITUS_URL names none', () => behaves(listed))
  else describe('of Citus', () => behaves(() => Promise.resolve(citus(url))))
})
