import { expect } from 'chai'
import { migrate } from '../../../lib/migrations/index.js'
import { drilling } from '../../support/drill.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import type { FreshDatabase } from '../../migrations/fresh-database.js'
import { runHost } from '../../migrations/hosts/run-host.js'
import type { HostOrders } from '../../migrations/hosts/migrating.js'

/** Twelve files whose statements are all there is to a life of migrations; lint has nothing against them. */
const POSTGRES = {
  ...file(
    '0002_a',
    'CREATE TABLE a (id bigint PRIMARY KEY, name text);\nCREATE INDEX a_name ON a (name)',
    'DROP TABLE a',
  ),
  ...file('0003_b', 'CREATE TABLE b (id bigint PRIMARY KEY, a_id bigint REFERENCES a)', 'DROP TABLE b'),
  ...file(
    '0004_rows',
    "INSERT INTO a VALUES (1, 'one'), (2, 'two');\nINSERT INTO b VALUES (1, 1)",
    'DELETE FROM b;\nDELETE FROM a',
  ),
  ...file(
    '0005_age',
    'ALTER TABLE a ADD COLUMN age bigint DEFAULT 0 NOT NULL',
    'ALTER TABLE a DROP COLUMN age',
  ),
  ...file('0006_grow', 'UPDATE a SET age = age + 1', 'UPDATE a SET age = age - 1'),
  ...file('0007_age_index', 'CREATE INDEX CONCURRENTLY a_age ON a (age)', 'DROP INDEX CONCURRENTLY a_age'),
  ...file(
    '0008_function',
    'CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; END',
    'DROP FUNCTION one',
  ),
  ...file(
    '0009_drop_index',
    'DROP INDEX CONCURRENTLY a_name',
    'CREATE INDEX CONCURRENTLY a_name ON a (name)',
  ),
  ...file('0010_view', 'CREATE VIEW grown AS SELECT id FROM a WHERE age > 0', 'DROP VIEW grown'),
  ...file('0011_vacuum', 'VACUUM a', '-- nothing to undo'),
  ...file('0012_count', 'INSERT INTO b SELECT max(id) + 1, 2 FROM b', 'DELETE FROM b WHERE id > 1'),
  ...file('0013_reindex', 'REINDEX INDEX CONCURRENTLY a_age', '-- nothing to undo'),
}

const MYSQL = {
  ...file(
    '0002_a',
    'CREATE TABLE a (id bigint PRIMARY KEY, name varchar(99), KEY a_name (name))',
    'DROP TABLE a',
  ),
  ...file(
    '0003_b',
    'CREATE TABLE b (id bigint PRIMARY KEY, a_id bigint, FOREIGN KEY (a_id) REFERENCES a (id))',
    'DROP TABLE b',
  ),
  ...file(
    '0004_rows',
    "INSERT INTO a VALUES (1, 'one'), (2, 'two');\nINSERT INTO b VALUES (1, 1)",
    'DELETE FROM b;\nDELETE FROM a',
  ),
  ...file(
    '0005_age',
    'ALTER TABLE a ADD COLUMN age bigint DEFAULT 0 NOT NULL',
    'ALTER TABLE a DROP COLUMN age',
  ),
  ...file('0006_grow', 'UPDATE a SET age = age + 1', 'UPDATE a SET age = age - 1'),
  ...file('0007_age_index', 'CREATE INDEX a_age ON a (age)', 'DROP INDEX a_age ON a'),
  ...file(
    '0008_function',
    'CREATE OR REPLACE FUNCTION one() RETURNS int DETERMINISTIC BEGIN RETURN 1; END',
    'DROP FUNCTION IF EXISTS one',
  ),
  ...file('0009_drop_index', 'DROP INDEX a_name ON a', 'CREATE INDEX a_name ON a (name)'),
  ...file('0010_view', 'CREATE VIEW grown AS SELECT id FROM a WHERE age > 0', 'DROP VIEW IF EXISTS grown'),
  ...file(
    '0011_two',
    'CREATE TABLE c (id bigint PRIMARY KEY);\nINSERT INTO c VALUES (1);\nUPDATE c SET id = id + 1',
    'DROP TABLE c',
  ),
  ...file('0012_count', 'INSERT INTO b SELECT max(id) + 1, 2 FROM b', 'DELETE FROM b WHERE id > 1'),
  ...file(
    '0013_widen',
    'ALTER TABLE c ADD COLUMN d bigint, ADD COLUMN e bigint',
    'ALTER TABLE c DROP COLUMN d, DROP COLUMN e',
  ),
}

type Death = NonNullable<HostOrders['die']>

onEachEngine('a host that is killed', (database, dialect) => {
  const files = dialect === 'postgres' ? POSTGRES : MYSQL
  const up = dialect === 'postgres' ? 14 : 15
  const down = dialect === 'postgres' ? 11 : 13
  const migrator = () => migrate({ url: database().url, files })

  it('runs files that lint accepts without a word', async () => {
    expect(await migrator().lint()).to.deep.equal([])
  })

  it('leaves nothing half done on its up migration, whenever it dies', async () => {
    const clean = await migrator()
      .up()
      .then(() => imageOf(database()))
    for (const die of deaths(up)) {
      await migrator().down(1)
      const name = `${die.when} statement ${die.at}`
      expect(await runHost({ options: { url: database().url, files }, die }), name).to.equal(undefined)
      await migrator().up()
      expect(await imageOf(database()), name).to.deep.equal(clean)
      expect(await migrator().verify(), name).to.deep.equal([])
    }
    expect(
      await runHost({ options: { url: database().url, files }, die: { at: up + 1, when: 'before' } }),
    ).to.have.property('result')
  })

  it('leaves nothing half done on its down migration, whenever it dies, and neither way does from there', async () => {
    const clean = await migrator()
      .up()
      .then(() => imageOf(database()))
    for (const die of deaths(down)) {
      const name = `${die.when} statement ${die.at}`
      const orders = { options: { url: database().url, files }, downTo: 1, die }
      expect(await runHost(orders), name).to.equal(undefined)
      if (die.at % 2 === 0) await migrator().down(1)
      await migrator().up()
      expect(await imageOf(database()), name).to.deep.equal(clean)
      expect(await migrator().verify(), name).to.deep.equal([])
    }
  })
})

/** Every statement and every moment in the drill; else some of each. */
function deaths(statements: number): readonly Death[] {
  const moments = ['before', 'during', 'after'] as const
  return Array.from({ length: statements }, (_, index) => index + 1).flatMap((at) =>
    moments
      .filter((_, moment) => drilling || (at % 3 === 1 && at % 9 === (moment * 3 + 1) % 9))
      .map((when) => ({ at, when })),
  )
}

/** Everything of a schema and its rows that a second or a missing application of a file would change. */
async function imageOf({ dialect, rows }: FreshDatabase): Promise<unknown> {
  const own = "table_name NOT LIKE 'ashlar%'"
  const schema = dialect === 'postgres' ? "'public'" : 'DATABASE()'
  const type = dialect === 'postgres' ? 'data_type' : 'column_type'
  const columns = await rows(
    `SELECT table_name AS t, column_name AS c, ${type} AS y, column_default AS d, is_nullable AS n
     FROM information_schema.columns WHERE table_schema = ${schema} AND ${own} ORDER BY table_name, column_name`,
  )
  const indexes = await rows(
    dialect === 'postgres'
      ? `SELECT pg_get_indexdef(indexrelid) AS made, indisvalid AS valid FROM pg_index
         WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) ORDER BY 1`
      : `SELECT table_name AS t, index_name AS i, column_name AS c, seq_in_index AS s FROM information_schema.statistics
         WHERE table_schema = DATABASE() ORDER BY 1, 2, 4`,
  )
  const versions = await rows(
    'SELECT version, name, checksum, dirty, statements_done, error FROM ashlar_migrations ORDER BY version',
  )
  const data = [await rows('SELECT * FROM a ORDER BY id'), await rows('SELECT * FROM b ORDER BY id')]
  return {
    columns,
    indexes,
    versions,
    data,
    one: await rows('SELECT one() AS one, (SELECT count(*) FROM grown) AS grown'),
  }
}
