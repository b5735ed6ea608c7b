import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { MigrationError } from '../../../lib/errors.js'
import { migrate } from '../../../lib/migrations/index.js'
import { failureOf, onEachEngine, problemOf, tables } from '../each-engine.js'

/** The tables as the tools make them, by their documentation. TypeORM's is made by itself. */
const HISTORIES: readonly (readonly [tool: string, table: string, columns: string])[] = [
  ['Knex', 'knex_migrations', 'id int, name varchar(255), batch int, migration_time timestamp NULL'],
  ['Drizzle', '__drizzle_migrations', 'id int, hash text NOT NULL, created_at bigint'],
  ['node-pg-migrate', 'pgmigrations', 'id int, name varchar(255) NOT NULL, run_on timestamp NOT NULL'],
  ['Sequelize', '"SequelizeMeta"', 'name varchar(255) NOT NULL'],
  [
    'Prisma',
    '_prisma_migrations',
    'id varchar(36), checksum varchar(64), finished_at timestamp NULL, migration_name varchar(255), logs text',
  ],
  [
    'Flyway',
    'flyway_schema_history',
    'installed_rank int, version varchar(50), description varchar(200), script varchar(1000), checksum int',
  ],
  ['Alembic', 'alembic_version', 'version_num varchar(32) NOT NULL'],
  ['Django', 'django_migrations', 'id int, app varchar(255), name varchar(255), applied timestamp NULL'],
  ['goose', 'goose_db_version', 'id int, version_id bigint, is_applied boolean, tstamp timestamp NULL'],
  ['dbmate or Rails', 'schema_migrations', 'version varchar(128) NOT NULL PRIMARY KEY'],
]

onEachEngine(
  'a schema that another tool migrates',
  (database, dialect) => {
    const migrator = () => migrate({ url: database().url, files: tables(2) })
    const quoted = (table: string) => (dialect === 'mysql' ? table.replaceAll('"', '`') : table)

    for (const [tool, table, columns] of HISTORIES)
      it(`is refused by the name of the tool: ${tool}`, async () => {
        await database().rows(`CREATE TABLE ${quoted(table)} (${columns})`)
        const before = await database().tables()
        const failure = await failureOf(migrator().up())
        expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'foreign')
        expect(problemOf(failure)).to.include({ kind: 'otherTool', tool, adopted: undefined })
        expect(await database().tables()).to.deep.equal(before)
      })

    it('is refused where TypeORM itself made its table', async () => {
      class First1700000000000 {
        name = 'First1700000000000'
        up = (runner: { query: (sql: string) => Promise<unknown> }) =>
          runner.query('CREATE TABLE t2 (id bigint PRIMARY KEY)')
        down = () => Promise.resolve()
      }
      const source = new DataSource({
        type: dialect === 'postgres' ? 'postgres' : 'mysql',
        url: database().url,
        migrations: [First1700000000000],
      })
      await source.initialize()
      await source.runMigrations()
      await source.destroy()
      expect(problemOf(await failureOf(migrator().up()))).to.include({ kind: 'otherTool', tool: 'TypeORM' })
      expect(await migrator().baseline(2)).to.deep.equal({
        applied: ['0001_framework_init'],
        recorded: ['0002_t2'],
      })
      expect((await migrator().up()).applied).to.deep.equal(['8001_outbox_log'])
    })

    it('is not what has only the name', async () => {
      await database().rows('CREATE TABLE migrations (id bigint PRIMARY KEY, bird text)')
      expect((await migrator().up()).applied).to.include('0002_t2')
    })

    if (dialect === 'postgres')
      it('leaves a module with a schema of its own alone; Drizzle has a schema for public', async () => {
        await database().rows(
          'CREATE TABLE knex_migrations (name text, batch int, migration_time timestamptz)',
        )
        const apart = migrate({ url: database().url, files: tables(2), module: 'apart' })
        expect((await apart.up()).applied).to.include('0002_t2')
        await database().rows('CREATE SCHEMA drizzle')
        await database().rows(
          'CREATE TABLE drizzle.__drizzle_migrations (id serial, hash text, created_at bigint)',
        )
        const other = migrate({ url: database().url, files: tables(2), module: 'other' })
        expect((await other.up()).applied).to.include('0002_t2')
        await database().rows('DROP TABLE knex_migrations')
        expect(problemOf(await failureOf(migrator().up()))).to.include({ kind: 'otherTool', tool: 'Drizzle' })
      })
  },
  { empty: true },
)
