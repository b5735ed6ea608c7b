import { expect } from 'chai'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource, type QueryRunner } from 'typeorm'
import { dumpedStatements } from '../../../lib/migrations/index.js'
import { onEachEngine, saidOf } from '../../migrations/each-engine.js'
import { jsonOf, runCommand } from '../../support/run-command.js'
import { dumped } from '../../support/migration-tools/dumped.js'

class Due1800000000000 {
  name = 'Due1800000000000'
  up = (runner: QueryRunner) => runner.query('ALTER TABLE tasks ADD COLUMN due bigint')
  down = (runner: QueryRunner) => runner.query('ALTER TABLE tasks DROP COLUMN due')
}

class Tasks1700000000000 {
  name = 'Tasks1700000000000'
  up = async (runner: QueryRunner) => {
    await runner.query('CREATE TABLE projects (id bigint PRIMARY KEY, name varchar(99) NOT NULL)')
    await runner.query(
      'CREATE TABLE tasks (id bigint PRIMARY KEY, title varchar(99) NOT NULL, project_id bigint, ' +
        'CONSTRAINT project FOREIGN KEY (project_id) REFERENCES projects (id))',
    )
    // Before the table that it refers to, in the order of the alphabet.
    await runner.query(
      'CREATE TABLE items (id bigint PRIMARY KEY, task_id bigint, CONSTRAINT task FOREIGN KEY (task_id) REFERENCES tasks (id))',
    )
    await runner.query('CREATE INDEX tasks_title ON tasks (title)')
    await runner.query('CREATE VIEW titles AS SELECT title FROM tasks')
  }
  down = () => Promise.resolve()
}

onEachEngine(
  'ashlar migrate adopt',
  (database, dialect) => {
    let folder: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'ashlar-adopt-'))
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    const run = (...args: readonly string[]) =>
      runCommand(['migrate', ...args], { cwd: folder, env: { ASHLAR_DATABASE_URL: database().url } })
    const withTypeorm = async (
      migrations: readonly (new () => object)[],
      work: (source: DataSource) => Promise<unknown>,
    ) => {
      const type = dialect === 'postgres' ? 'postgres' : 'mysql'
      const source = new DataSource({ type, url: database().url, migrations: [...migrations] as never })
      await source.initialize()
      await work(source)
      await source.destroy()
    }
    const json = async <T = object>(...args: readonly string[]) => jsonOf<T>(await run(...args, '--json'))
    const failed = async (...args: readonly string[]) =>
      (await json<{ error: { problems?: readonly object[] } }>(...args)).error.problems?.[0]
    /** The schema, by the line that `adopt` prints. */
    const dump = (line = ''): string => dumped(database().url, line)
    const lineOf = async (...args: readonly string[]) => (await run('adopt', ...args)).stdout.split('\n')[1]

    it('takes over what TypeORM made, and goes on from there', async () => {
      await withTypeorm([Tasks1700000000000], (source) => source.runMigrations())
      await database().rows("INSERT INTO projects VALUES (1, 'kept')")
      expect((await run('up')).exit).to.not.equal(0)

      const asked = await run('adopt')
      expect([asked.exit, asked.stderr]).to.deep.equal([0, saidOf(database())])
      const [, said = '', then] = asked.stdout.split('\n')
      expect(then).to.include('ashlar migrate adopt --dump schema.sql')
      const { dumpCommand, ...found } = await json<{ dumpCommand: string }>('adopt')
      expect(found).to.include({ tool: 'TypeORM' })
      expect(said).to.equal(`${dumpCommand} > schema.sql`)
      // The dump of somebody who left out the flag.
      writeFileSync(join(folder, 'whole.sql'), dump(said.replaceAll(/ \S+(exclude|ignore)-table=\S+/g, '')))
      const whole = await run('adopt', '--dump', 'whole.sql')
      expect([whole.exit, whole.stdout]).to.deep.equal([2, ''])
      expect(whole.stderr).to.include(`${dumpCommand} > whole.sql`)
      const none = await run('adopt', '--dump', 'nope.sql')
      expect([none.exit, none.stderr.split(' ')[1]]).to.deep.equal([2, 'nope.sql'])
      expect(existsSync(join(folder, 'migrations'))).to.equal(false)
      writeFileSync(join(folder, 'schema.sql'), dump(said))
      const adopted = await run('adopt', '--dump', 'schema.sql', '--json')
      expect([adopted.exit, adopted.stderr]).to.deep.equal([0, saidOf(database())])
      expect(jsonOf(adopted)).to.deep.include({
        files: ['up', 'down'].map((way) => `migrations/${dialect}/0002_adopted_typeorm.${way}.sql`),
        applied: ['0001_framework_init'],
        recorded: ['0002_adopted_typeorm'],
      })
      const sql = readFileSync(join(folder, 'migrations', dialect, '0002_adopted_typeorm.up.sql'), 'utf8')
      expect(sql)
        .to.match(/tasks_title/)
        .and.not.match(/\bSET (statement_timeout|@saved)|DROP TABLE|TABLE \S*migrations/)

      expect(await json('up')).to.deep.include({ applied: ['8001_outbox_log'] })
      expect((await run('status', '--check')).exit).to.equal(0)
      expect((await run('verify')).exit).to.equal(0)
      expect(await database().rows('SELECT name FROM projects')).to.deep.equal([{ name: 'kept' }])
      // The files alone make the same schema.
      const checked = await run('check', '--json')
      expect(checked.exit, checked.stdout).to.equal(0)
      expect(jsonOf(checked)).to.have.nested.property('details.downs').that.deep.equals([])
      const again = await run('adopt', '--dump', 'schema.sql', '--json')
      expect(again.exit).to.equal(0)
      expect(jsonOf(again)).to.deep.include({ files: [], applied: [], recorded: [] })
    })

    it('records the same version in the other databases of the tool', async () => {
      await withTypeorm([Tasks1700000000000], (source) => source.runMigrations())
      writeFileSync(join(folder, 'schema.sql'), dump(await lineOf()))
      await run('adopt', '--dump', 'schema.sql')
      // Another database has the tables of the tool, and no version of ours.
      await database().rows('DROP TABLE ashlar_migrations')
      expect(await failed('up')).to.include({ kind: 'otherTool', tool: 'TypeORM', adopted: 2 })
      const adopt = await run('adopt')
      expect(adopt.exit).to.equal(2)
      expect(adopt.stderr).to.match(/ 0002_adopted_typeorm\b.*\bashlar migrate baseline --to 2\b/)
      expect((await run('baseline', '--to', '2')).exit).to.equal(0)
      expect((await run('up')).exit).to.equal(0)
    })

    if (dialect === 'mysql')
      it('takes over routines, events and triggers', async () => {
        await withTypeorm([Tasks1700000000000], (source) => source.runMigrations())
        for (const sql of [
          'CREATE FUNCTION next_one(x int) RETURNS int DETERMINISTIC BEGIN RETURN x + 1; END',
          'CREATE PROCEDURE forget() BEGIN DELETE FROM items; DELETE FROM tasks; END',
          'CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM items',
          'CREATE TRIGGER named BEFORE INSERT ON tasks FOR EACH ROW BEGIN SET NEW.title = UPPER(NEW.title); END',
        ])
          await database().rows(sql)
        const said = await lineOf()
        expect(said).to.include(' --routines --events ')
        writeFileSync(join(folder, 'schema.sql'), dump(said))
        expect((await run('adopt', '--dump', 'schema.sql')).exit).to.equal(0)
        const sql = readFileSync(join(folder, 'migrations', dialect, '0002_adopted_typeorm.up.sql'), 'utf8')
        for (const name of ['next_one', 'forget', 'nightly', 'named']) expect(sql).to.include(name)
        const checked = await run('check')
        expect(checked.exit, checked.stdout).to.equal(0)
      })

    it('refuses what TypeORM changed afterwards, until that is undone or in the files', async () => {
      await withTypeorm([Tasks1700000000000], (source) => source.runMigrations())
      writeFileSync(join(folder, 'schema.sql'), dump(await lineOf()))
      await run('adopt', '--dump', 'schema.sql')
      expect((await run('up')).exit).to.equal(0)

      const both = [Tasks1700000000000, Due1800000000000]
      await withTypeorm(both, (source) => source.runMigrations())
      const refused = await run('up')
      expect([refused.exit, refused.stdout]).to.deep.equal([6, ''])
      const moved = { kind: 'otherToolMoved', tool: 'TypeORM', table: 'migrations', count: 2, adopted: 1 }
      expect(await failed('up')).to.include(moved)
      const status = await run('status', '--check')
      expect(status.exit).to.equal(1)
      expect(status.stderr).to.match(/^note: .*\bTypeORM\b/m)
      const verify = await run('verify', '--json')
      expect(verify.exit).to.equal(1)
      const [difference] = jsonOf<{ details: readonly Record<string, unknown>[] }>(verify).details
      expect(difference).to.include({ kind: 'refused' }).and.have.property('problem').that.includes(moved)
      await withTypeorm(both, (source) => source.undoLastMigration())
      expect(await json('up')).to.deep.include({ applied: [] })

      await withTypeorm(both, (source) => source.runMigrations())
      const [mark = ''] = /-- ashlar:adopted migrations at 2 [0-9a-f]{12}/.exec(refused.stderr) ?? []
      await run('new', 'due')
      writeFileSync(
        join(folder, 'migrations', dialect, '0003_due.up.sql'),
        `${mark}\nALTER TABLE tasks ADD COLUMN due bigint${dialect === 'postgres' ? '' : ', ALGORITHM=INSTANT'};\n`,
      )
      writeFileSync(
        join(folder, 'migrations', dialect, '0003_due.down.sql'),
        'ALTER TABLE tasks DROP COLUMN due;\n',
      )
      expect((await run('resolve', '--applied', '3', '--yes')).exit).to.equal(0)
      const up = await run('up', '--json')
      expect([up.exit, up.stderr]).to.deep.equal([0, saidOf(database())])
      expect(jsonOf(up)).to.deep.include({ applied: [] })
      await withTypeorm(both, (source) => source.undoLastMigration())
      expect(await failed('up')).to.include({ ...moved, count: 1, adopted: 2 })
    })

    if (dialect === 'postgres')
      it('takes over one schema, with the extensions, and leaves the others alone', async () => {
        for (const sql of [
          'CREATE EXTENSION citext',
          'CREATE SCHEMA shop',
          'CREATE SCHEMA other',
          'CREATE TABLE other.secret (id bigint PRIMARY KEY)',
          'CREATE TABLE shop.knex_migrations (id serial, name text, batch int, migration_time timestamptz)',
          'CREATE TABLE shop.tasks (id bigint PRIMARY KEY, title public.citext)',
        ])
          await database().rows(sql)
        writeFileSync(join(folder, 'schema.sql'), dump(await lineOf('--schema', 'shop')))
        const adopted = await run('adopt', '--schema', 'shop', '--dump', 'schema.sql')
        expect(adopted.exit, adopted.stderr).to.equal(0)
        const sql = readFileSync(join(folder, 'migrations/postgres/0002_adopted_knex.up.sql'), 'utf8')
        expect(sql).to.include('CREATE EXTENSION IF NOT EXISTS citext').and.include('CREATE TABLE shop.tasks')
        expect(sql).to.not.match(/CREATE SCHEMA|other|secret/)
        const checked = await run('check', '--schema', 'shop')
        expect(checked.exit, checked.stdout).to.equal(0)
      })

    it('leaves to up what golang-migrate recorded, as status says', async () => {
      await database().rows(
        'CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)',
      )
      await database().rows('INSERT INTO schema_migrations VALUES (2, false)')
      const refused = await run('adopt', '--json')
      expect(refused.exit).to.equal(6)
      expect(await failed('adopt')).to.deep.equal({
        kind: 'otherUnknown',
        table: 'schema_migrations',
        number: 2,
      })
      await run('new', 'tasks')
      const said = /\bschema_migrations .*\b0002\b.*\b0001 to 0002\b/
      expect((await run('status')).stderr).to.match(said)
      const adopt = await run('adopt')
      expect(adopt.exit).to.equal(0)
      expect(adopt.stdout).to.match(said).and.include('ashlar migrate up\n')
    })

    it('refuses a database of which no tool is known, and says what else there is', async () => {
      const { exit, stderr } = await run('adopt')
      expect(exit).to.equal(6)
      expect(stderr).to.include('ashlar migrate baseline --to 2')
    })
  },
  { empty: true },
)

describe('a dump of MySQL', () => {
  it('loses the users that define its triggers and views', () => {
    const dump =
      "CREATE TABLE a (id int COMMENT 'CREATE DEFINER=me VIEW');" +
      '/*!50003 CREATE*/ /*!50017 DEFINER=`me`@`%`*/ /*!50003 TRIGGER t AFTER INSERT ON a FOR EACH ROW SET @x = 1 */;' +
      '/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`me`@`%` SQL SECURITY DEFINER */\n/*!50001 VIEW v AS SELECT id FROM a */;' +
      'CREATE DEFINER=me@localhost PROCEDURE p() SELECT 1;'
    expect(dumpedStatements(dump, 'mysql')).to.deep.equal([
      "CREATE TABLE a (id int COMMENT 'CREATE DEFINER=me VIEW')",
      '/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER t AFTER INSERT ON a FOR EACH ROW SET @x = 1 */',
      '/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 SQL SECURITY DEFINER */\n/*!50001 VIEW v AS SELECT id FROM a */',
      'CREATE PROCEDURE p() SELECT 1',
    ])
  })

  it('gets each table with its triggers behind those that it refers to, and views stay behind', () => {
    const dump =
      'CREATE TABLE `a` (id int, FOREIGN KEY (id) REFERENCES `b` (id), FOREIGN KEY (id) REFERENCES `a` (id));' +
      '/*!50003 CREATE*/ /*!50017 DEFINER=`me`@`%`*/ /*!50003 TRIGGER t AFTER INSERT ON a FOR EACH ROW SET @x = 1 */;' +
      'CREATE TABLE `b` (id int PRIMARY KEY); CREATE VIEW v AS SELECT id FROM a;'
    const heads = dumpedStatements(dump, 'mysql').map((text) => /TABLE `.`|TRIGGER|VIEW/.exec(text)?.[0])
    expect(heads).to.deep.equal(['TABLE `b`', 'TABLE `a`', 'TRIGGER', 'VIEW'])
  })

  it('keeps the check of foreign keys off where tables refer to each other', () => {
    const dump =
      'CREATE TABLE a (id int, FOREIGN KEY (id) REFERENCES b (id)); CREATE TABLE b (id int, FOREIGN KEY (id) REFERENCES a (id));'
    const statements = dumpedStatements(dump, 'mysql')
    expect(statements.at(0)).to.equal('SET FOREIGN_KEY_CHECKS = 0')
    expect(statements.at(-1)).to.equal('SET FOREIGN_KEY_CHECKS = 1')
  })
})
