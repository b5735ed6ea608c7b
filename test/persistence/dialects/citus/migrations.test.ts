import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate as migratorOf } from '../../../../lib/migrations/index.js'
import { postgresChanges } from '../../../../lib/persistence/dialects/postgres/changes.js'
import { failureOf, file, problemOf } from '../../../migrations/each-engine.js'
import { sendTo, type Spread } from '../../../support/databases/citus/cluster.js'
import { describeDistributed } from './distributed.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { testDatabase } from '../../../support/databases/test-database.js'
import { root } from '../../../support/root.js'

/** The SQL of the page that has these words. */
const onPage = (words: string): string => {
  const page = readFileSync(join(root, 'docs/guides/scaling.md'), 'utf8')
  const blocks = [...page.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, sql]) => sql ?? '')
  const found = blocks.filter((sql) => sql.includes(words))
  expect(found).to.have.length(1)
  return found[0] ?? ''
}

const BEFORE = [
  'CREATE TABLE countries (id varchar(36) PRIMARY KEY)',
  'CREATE TABLE widgets (account_id varchar(36), id varchar(36), PRIMARY KEY (account_id, id))',
]
const VALID = `SELECT bool_and(convalidated), count(*) FROM pg_constraint WHERE conrelid = 'gadgets'::regclass AND contype = 'f'`

/** Migrates in transactions, as `ashlar migrate up` does. */
const migrate = async (url: string) => {
  await sendTo(url, 'BEGIN', onPage('multi_shard_modify_mode'), 'COMMIT')
  await sendTo(url, 'ALTER TABLE gadgets ADD COLUMN part_id varchar(36)')
  await sendTo(url, onPage('gadgets_part_fkey'))
  expect(await sendTo(url, VALID)).to.deep.equal([[true, '3']])
}

describeDistributed('a migration after the first', (open, isCluster) => {
  if (!isCluster) return
  let server: Spread

  before(async () => {
    server = await open()
  })
  after(() => server?.drop())

  it('creates a table and distributes it, as the guide says', async () => {
    await sendTo(
      server.url,
      ...BEFORE,
      `SELECT create_reference_table('countries')`,
      `SELECT create_distributed_table('widgets', 'account_id')`,
    )
    await migrate(server.url)
    const types = await sendTo(
      server.url,
      'SELECT table_name::text, citus_table_type FROM citus_tables ORDER BY 1',
    )
    expect(types).to.deep.equal([
      ['countries', 'reference'],
      ['gadgets', 'distributed'],
      ['widgets', 'distributed'],
    ])
  })
})

/** The trigger that `@RenamedFrom()` needs. It mirrors the old column. */
const [MIRROR] = postgresChanges.mirror({ schema: undefined, name: 'shelves' }, 'shelves_mirror', {
  from: 'title',
  to: 'name',
} as never)
/** The failure of Citus, from a server without it. */
const REFUSED = `DO $$ BEGIN RAISE 'triggers are not supported on distributed tables' USING ERRCODE = 'XX000'; END $$`

describeDistributed('a migration with the trigger of a renamed column', (open, isCluster) => {
  let server: Spread

  before(async () => {
    server = await open()
    await sendTo(
      server.url,
      'CREATE TABLE shelves (account_id varchar(36), id varchar(36), title text, name text, PRIMARY KEY (account_id, id))',
    )
    if (isCluster) await sendTo(server.url, `SELECT create_distributed_table('shelves', 'account_id')`)
  })
  after(() => server?.drop())

  it('reports the setting that it needs', async () => {
    const sql = isCluster ? (MIRROR?.up.join(';') ?? '') : REFUSED
    const down = isCluster ? (MIRROR?.down.join(';') ?? '') : '-- it creates nothing'
    const migrator = migratorOf({ url: server.url, files: file('0002_mirror', sql, down) })
    expect(problemOf(await failureOf(migrator.up()))).to.deep.include({ advice: { kind: 'unsafeTriggers' } })
    if (!isCluster) return
    const name = new URL(server.url).pathname.slice(1)
    await sendTo(server.url, `ALTER DATABASE ${name} SET citus.enable_unsafe_triggers TO on`)
    await migrator.up()
    await sendTo(server.url, `INSERT INTO shelves (account_id, id, title) VALUES ('a', 'x', 'red')`)
    expect(await sendTo(server.url, 'SELECT title, name FROM shelves')).to.deep.equal([['red', 'red']])
  })
})

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('a migration of the guide for distributed tables', postgres, () => {
  it('creates the table on a database without the extension', async () => {
    const { url, drop } = await testDatabase('postgres')
    await sendTo(url, ...BEFORE)
    await migrate(url)
    await drop()
  })
})
