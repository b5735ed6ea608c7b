import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MigrationError } from '../../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from '../each-engine.js'
import { root } from '../../support/root.js'
import { BASELINE } from '../fresh-database.js'

const FIRST = ['0001_framework_init', '0002_t2', '8001_outbox_log']

onEachEngine(
  'a database that another tool migrated',
  (database, dialect) => {
    const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
      migrate({ url: database().url, files, ...options })
    const upgrade = readFileSync(
      join(root, 'migrations', dialect, '8001_outbox_log.down.sql'),
      'utf8',
    ).replace(/^--.*$/gm, '')
    const indexesOf = () =>
      database().rows(
        dialect === 'postgres'
          ? "SELECT indexdef AS made FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE '%migrations' ORDER BY 1"
          : `SELECT CONCAT(TABLE_NAME, INDEX_NAME, COLUMN_NAME) AS made FROM information_schema.STATISTICS
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '%migrations' ORDER BY 1`,
      )
    /** As that tool would have left it. */
    const migratedTo = async (version: number, dirty = false) => {
      await migrator(tables(2)).up()
      // That tool knows nothing of upgrades.
      for (const statement of upgrade.split(';').filter((text) => /\S/.test(text)))
        await database().rows(statement)
      await database().rows('DROP TABLE ashlar_migrations')
      await database().rows(
        'CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)',
      )
      await database().rows(`INSERT INTO schema_migrations VALUES (${version}, ${dirty})`)
    }

    it('is taken over at its version: what is older counts as applied, what is newer runs', async () => {
      await migratedTo(2)
      const progress: Progress[] = []
      const files = tables(2, 3)
      expect(await migrator(files).otherHistory()).to.deep.equal({
        ...{ isRefused: false, table: 'schema_migrations', at: 2, versions: [1, 2] },
      })
      const result = await migrator(files, { onProgress: (event) => progress.push(event) }).up()
      expect(result.applied).to.deep.equal(['0003_t3', '8001_outbox_log'])
      expect(progress[0]).to.deep.equal({
        ...{ kind: 'adopted', from: 'schema_migrations', versions: ['0001_framework_init', '0002_t2'] },
        created: [],
      })
      expect(await migrator(files).otherHistory()).to.equal(undefined)
      expect(await migrator(files).verify()).to.deep.equal([])
      expect((await migrator(files).status()).map(({ isChecked }) => isChecked)).to.deep.equal([
        ...[false, false, true, true],
      ])
      const kept = await database().rows('SELECT version FROM schema_migrations')
      expect(kept.map(({ version }) => Number(version))).to.deep.equal([2])
    })

    it('runs upgrades of the framework whose tables are missing, also below the version of the other tool', async () => {
      await migratedTo(9001)
      await database().rows('CREATE TABLE t9001 (id bigint PRIMARY KEY)')
      const files = { ...tables(2), ...tables(9001) }
      expect(await migrator(files).otherHistory()).to.deep.equal({
        ...{ isRefused: false, table: 'schema_migrations', at: 9001, versions: [1, 2, 9001] },
      })
      expect((await migrator(files).plan()).map(({ name }) => name)).to.deep.equal(['8001_outbox_log'])
      expect((await migrator(files).up()).applied).to.deep.equal(['8001_outbox_log'])
      expect(await database().tables()).to.include('outbox_leases')
    })

    it('is planned as it runs: tables that are made while it is taken over are new', async () => {
      await database().rows(
        'CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)',
      )
      await database().rows('INSERT INTO schema_migrations VALUES (1, false)')
      const [upgrade, ...more] = await migrator({}).plan()
      expect([upgrade?.name, more]).to.deep.equal(['8001_outbox_log', []])
      expect(upgrade?.statements.flatMap(({ tables: touched }) => touched)).to.deep.equal([])
    })

    it('gets the tables of the framework that the other tool did not make, with their indexes', async () => {
      await migratedTo(2)
      const made = await indexesOf()
      await database().rows('DROP TABLE operations')
      await database().rows('DROP TABLE idempotency_keys')
      await database().rows("INSERT INTO tenant_event_seq VALUES ('acme', 7)")
      const progress: Progress[] = []
      await migrator(tables(2), { onProgress: (event) => progress.push(event) }).up()
      expect(progress[0]).to.deep.include({ created: ['idempotency_keys', 'operations'] })
      expect(await indexesOf()).to.include.deep.members(made)
      const kept = await database().rows('SELECT next_seq FROM tenant_event_seq')
      expect(kept.map((row) => Number(row.next_seq))).to.deep.equal([7])
      expect((await migrator(tables(2)).down(0)).rolledBack).to.deep.equal([
        ...['8001_outbox_log', '0002_t2', '0001_framework_init'],
      ])
    })

    it('keeps a table of the framework as it is, whatever its columns and indexes', async () => {
      await migratedTo(1)
      await database().rows('DROP TABLE operations')
      await database().rows('CREATE TABLE operations (name varchar(255) PRIMARY KEY)')
      const found = await indexesOf()
      await migrator({}).up()
      expect(await indexesOf()).to.include.deep.members(found)
    })

    if (dialect === 'postgres')
      it('says what it cannot create, and takes nothing over then', async () => {
        await migratedTo(1)
        await database().rows('DROP TABLE operations')
        await database().rows('CREATE DOMAIN operations AS text')
        await database().rows('DROP TABLE idempotency_keys')
        const failure = await failureOf(migrator({}).up())
        expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'failed')
        expect(problemOf(failure)).to.include({ kind: 'notTakenOver', table: 'schema_migrations' })
        expect(await database().tables()).to.not.include('idempotency_keys')
        await database().rows('DROP DOMAIN operations')
        await migrator({}).up()
        expect(await database().tables()).to.include.members(['operations', 'idempotency_keys'])
      })

    it('is rolled back by the files that were there on first contact', async () => {
      await migratedTo(2)
      await migrator(tables(2)).up()
      expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0002_t2'])
      expect(await database().tables()).to.deep.equal([...BASELINE, 'schema_migrations'].sort())
    })

    it('may have files that the engine would refuse to run', async () => {
      await migratedTo(2)
      const files = {
        ...file('0002_t2', 'BEGIN; CREATE TABLE t2 (id bigint); COMMIT', 'DROP TABLE t2'),
        ...tables(3),
      }
      expect((await migrator(files).up()).applied).to.deep.equal(['0003_t3', '8001_outbox_log'])
      expect(await migrator(files).up()).to.deep.equal({ applied: [], ahead: [] })
    })

    it('is refused while it is dirty', async () => {
      await migratedTo(2, true)
      const failure = await failureOf(migrator(tables(2, 3)).up())
      expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'dirty')
      const other = await migrator(tables(2, 3)).otherHistory()
      const problem = { kind: 'otherDirty', table: 'schema_migrations', number: 2 }
      expect(problemOf(failure)).to.deep.equal(problem)
      expect(other).to.deep.equal({ isRefused: true, problem })
      expect((await migrator(tables(2, 3)).verify())[0]).to.deep.equal({ kind: 'refused', problem })
      expect(await database().tables()).to.not.include('t3')
    })

    it('is refused when it is at a version that the files do not have', async () => {
      await migratedTo(7)
      expect(problemOf(await failureOf(migrator(tables(2)).up()))).to.deep.equal({
        ...{ kind: 'otherUnknown', table: 'schema_migrations', number: 7 },
      })
    })

    it('is refused with a table of other columns, and not taken over from an empty one', async () => {
      await database().rows('CREATE TABLE schema_migrations (version varchar(20) NOT NULL PRIMARY KEY)')
      await database().rows("INSERT INTO schema_migrations VALUES ('2')")
      expect(await failureOf(migrator(tables(2)).up())).to.have.property('stop', 'foreign')
      await database().rows('DROP TABLE schema_migrations')
      await database().rows('CREATE TABLE schema_migrations (version bigint, dirty boolean)')
      expect((await migrator(tables(2)).up()).applied).to.deep.equal(FIRST)
    })
  },
  { empty: true },
)
