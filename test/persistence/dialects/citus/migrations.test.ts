import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeDistributed, sendTo, type Spread } from './cluster.js'
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

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('a migration of the guide for distributed tables', postgres, () => {
  it('creates the table on a database without the extension', async () => {
    const { url, drop } = await testDatabase('postgres')
    await sendTo(url, ...BEFORE)
    await migrate(url)
    await drop()
  })
})
