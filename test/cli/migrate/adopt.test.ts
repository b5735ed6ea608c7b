import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource, type QueryRunner } from 'typeorm'
import { onEachEngine } from '../../migrations/each-engine.js'
import { runCli } from '../../support/run-cli.js'

class Tasks1700000000000 {
  name = 'Tasks1700000000000'
  up = async (runner: QueryRunner) => {
    await runner.query('CREATE TABLE projects (id bigint PRIMARY KEY, name varchar(99) NOT NULL)')
    await runner.query(
      'CREATE TABLE tasks (id bigint PRIMARY KEY, title varchar(99) NOT NULL, project_id bigint, ' +
        'CONSTRAINT project FOREIGN KEY (project_id) REFERENCES projects (id))',
    )
    await runner.query('CREATE INDEX tasks_title ON tasks (title)')
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
      runCli('ashlar', ['migrate', ...args], { cwd: folder, env: { ASHLAR_DATABASE_URL: database().url } })
    /** What the printed command prints. */
    const dump = (said: string): string => {
      const { hostname, port, username, password, pathname } = new URL(database().url)
      const name = pathname.slice(1)
      const [program = '', ...args] = said
        .replace('<database>', name)
        .split(' ')
        .map((word) => word.replaceAll("'", ''))
      const where =
        dialect === 'postgres'
          ? [database().url]
          : [`--host=${hostname}`, `--port=${port}`, `--user=${decodeURIComponent(username)}`, name]
      const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) }
      return execFileSync(program, [...args, ...where], { encoding: 'utf8', env })
    }

    it('takes over what TypeORM made, and goes on from there', async () => {
      const source = new DataSource({
        type: dialect === 'postgres' ? 'postgres' : 'mysql',
        url: database().url,
        migrations: [Tasks1700000000000],
      })
      await source.initialize()
      await source.runMigrations()
      await source.destroy()
      await database().rows("INSERT INTO projects VALUES (1, 'kept')")
      expect((await run('up')).exit).to.not.equal(0)

      const asked = await run('adopt')
      expect([asked.exit, asked.stderr]).to.deep.equal([0, ''])
      const [first, said = ''] = asked.stdout.split('\n')
      expect(first).to.equal('TypeORM migrates this schema. Dump it, and name the file with --dump:')
      writeFileSync(join(folder, 'schema.sql'), dump(said))
      const adopted = await run('adopt', '--dump', 'schema.sql')
      expect([adopted.exit, adopted.stderr]).to.deep.equal([0, ''])
      expect(adopted.stdout).to.match(/recorded 0001_framework_init\nrecorded 0002_adopted_typeorm\n$/)
      const sql = readFileSync(join(folder, 'migrations', dialect, '0002_adopted_typeorm.up.sql'), 'utf8')
      expect(sql)
        .to.match(/tasks_title/)
        .and.not.match(/\bSET (statement_timeout|@saved)|DROP TABLE|\bmigrations\b/)

      const up = await run('up')
      expect([up.exit, up.stdout]).to.deep.equal([0, 'applied 8001_outbox_log\n'])
      expect((await run('status', '--check')).exit).to.equal(0)
      expect(await database().rows('SELECT name FROM projects')).to.deep.equal([{ name: 'kept' }])
      // The files alone make the same schema.
      const checked = await run('check')
      expect(checked.exit, checked.stdout).to.equal(0)
      expect(checked.stdout).to.include('every version goes up, down and up again')
      expect((await run('adopt', '--dump', 'schema.sql')).stderr).to.include('has versions already')
    })

    it('says that no tool is known', async () => {
      const { exit, stderr } = await run('adopt')
      expect(exit).to.equal(2)
      expect(stderr).to.include('no history of another tool is known here')
    })
  },
  { empty: true },
)
