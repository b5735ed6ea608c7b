import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diffHeading } from '../../../cli/migrate/headings.js'
import type { PlannedVersion, TableDifference } from '../../../lib/migrations/index.js'
import type { ShownChanges } from '../../../cli/migrate/schema-versions.js'
import { file, onEachEngine, saidOf } from '../../migrations/each-engine.js'
import { freshDatabase } from '../../migrations/fresh-database.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import { serviceUrl } from '../../support/running/services.js'
import { runCli } from '../../support/run-cli.js'
import { jsonOf, type RanHere, runCommand, type RunOptions } from '../../support/run-command.js'

const entities = (name: string) => join(compiled, 'test', 'cli', 'migrate', 'hosts', `${name}.js`)
const [BEFORE, AFTER, REQUIRED] = [entities('before'), entities('after'), entities('required')]
const EXISTING = entities('existing')
const [FILLED, MISNAMED] = [entities('filled'), entities('misnamed')]

onEachEngine('ashlar migrate diff', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-diff-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const options = ({ env = {} }: RunOptions = {}) => ({
    cwd: folder,
    env: { ASHLAR_DATABASE_URL: database().url, ...env },
  })
  const migrate = (args: readonly string[], said?: RunOptions) =>
    runCommand(['migrate', ...args], options(said))
  /** What is compared with what. */
  const heading = async (module: string, scratch?: string) =>
    saidOf(database(), await diffHeading({ files: 'migrations', entities: module, scratch, live: false }))
  /** What a comparison has found, and written. */
  const compared = (ran: RanHere) => jsonOf<ShownChanges & { readonly files: readonly string[] }>(ran)
  const kinds = (differences: readonly TableDifference[]) =>
    differences.map(({ kind, table, column }) => [kind, table, column].filter(Boolean).join(' ')).sort()
  /** Of a command that fails, of which kind that is. */
  const problem = async (...args: readonly string[]) => {
    const ran = await migrate([...args, '--json'])
    const { error } = jsonOf<{ error: { problems?: readonly { readonly kind: string }[] } }>(ran)
    return [ran.exit, error.problems?.[0]?.kind]
  }
  const files = () => readdirSync(join(folder, 'migrations', dialect)).sort()
  const scratches = async () =>
    (
      await database().rows(
        dialect === 'postgres'
          ? 'SELECT datname AS name FROM pg_database'
          : 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA',
      )
    )
      .map(({ name }) => String(name))
      .filter((name) => name.startsWith(`${database().name}_ashlar_scratch_`))
  const ship = (made: Readonly<Record<string, string>>) => {
    mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    for (const [name, text] of Object.entries(made))
      writeFileSync(join(folder, 'migrations', dialect, name), text)
  }

  it('has nothing to write where each table is another application’s, and check has nothing to refuse', async () => {
    const ran = await migrate(['diff', 'none', '--entities', EXISTING])
    expect([ran.exit, ran.stderr]).to.deep.equal([0, await heading(EXISTING)])
    expect(ran.stdout).to.include('nothing')
    ship({})
    expect((await migrate(['check', '--entities', EXISTING])).exit).to.equal(0)
  })

  it('takes a service from one version to the next in two deployments, and back', async () => {
    const made = await migrate(['diff', 'tasks', '--entities', BEFORE])
    expect([made.exit, made.stderr]).to.deep.equal([0, await heading(BEFORE)])
    expect(files()).to.deep.equal(['0002_tasks.down.sql', '0002_tasks.up.sql'])
    expect((await migrate(['up'])).exit).to.equal(0)
    await database().rows(
      `INSERT INTO tasks (account_id, id, title, colour) VALUES ('t', '1', 'build', 'red')`,
    )

    const expand = await migrate(['diff', 'next', '--entities', AFTER, '--json'])
    expect([expand.exit, expand.stderr]).to.deep.equal([0, await heading(AFTER)])
    expect(kinds(compared(expand).details.left)).to.include('extraColumn tasks colour')
    const again = await migrate(['diff', 'again', '--entities', AFTER])
    expect(again.stdout).to.match(/\bashlar migrate diff NAME --entities \S+after\.js --contract\b/)
    const nothing = compared(await migrate(['diff', 'again', '--entities', AFTER, '--json']))
    expect(nothing.files).to.deep.equal([])
    expect(kinds(nothing.details.left)).to.include('extraColumn tasks colour')
    expect((await migrate(['lint'])).exit).to.equal(0)
    for (const how of [[], ['--live']]) {
      const early = await migrate(['diff', 'end', '--entities', AFTER, '--contract', ...how])
      expect([early.exit, early.stdout]).to.deep.equal([1, ''])
      expect(early.stderr).to.match(/ashlar: .*\b0003_next\S*.*\bashlar migrate up\b/)
    }
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['diff', 'end', '--entities', AFTER, '--live'])).stdout).to.match(
      /\bashlar migrate diff NAME --entities \S+after\.js --live --contract\b/,
    )
    // The image of yesterday, and the one of tomorrow.
    await database().rows(
      `INSERT INTO tasks (account_id, id, title, colour) VALUES ('t', '2', 'test', 'red')`,
    )
    await database().rows(
      `INSERT INTO tasks (account_id, id, display_name, priority) VALUES ('t', '3', 'ship', 1)`,
    )
    await database().rows(`UPDATE tasks SET title = 'rest' WHERE id = '2'`)
    const both = await database().rows('SELECT title, display_name FROM tasks ORDER BY id')
    expect(both.map(({ title, display_name: name }) => [title, name])).to.deep.equal([
      ['build', 'build'],
      ['rest', 'rest'],
      ['ship', 'ship'],
    ])

    const contract = await migrate(['diff', 'end', '--entities', AFTER, '--contract'])
    expect([contract.exit, contract.stderr]).to.deep.equal([0, await heading(AFTER)])
    expect((await migrate(['lint'])).exit).to.equal(0)
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['verify', '--entities', AFTER])).exit).to.equal(0)
    for (const how of [[], ['--live']]) {
      const none = await migrate(['diff', 'more', '--entities', AFTER, ...how, '--json'])
      expect(none.exit).to.equal(0)
      expect(compared(none)).to.deep.include({ files: [], left: [], byHand: [], drift: [] })
    }
    const sql = files()
      .filter((name) => !name.startsWith('0002'))
      .map((name) => `-- ${name}\n${readFileSync(join(folder, 'migrations', dialect, name), 'utf8')}`)
    expectGolden(`sql/migrate-diff-tasks.${dialect}.sql`, sql.join('\n'))

    expect((await migrate(['down', '--to', '2', '--yes'])).exit).to.equal(0)
    const names = await database().rows('SELECT title FROM tasks ORDER BY id')
    expect(names.map(({ title }) => title)).to.deep.equal(['build', 'rest', 'ship'])
    expect(await scratches()).to.deep.equal([])
  })

  it('writes no contract that a view or a trigger of another file is in the way of, and names it', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    const trigger =
      dialect === 'postgres'
        ? 'CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER audit AFTER UPDATE OF colour ON tasks FOR EACH ROW EXECUTE FUNCTION audit();'
        : 'CREATE TRIGGER audit BEFORE UPDATE ON tasks FOR EACH ROW SET NEW.colour = OLD.colour;'
    ship(file('0003_report', 'CREATE VIEW report AS SELECT id, colour FROM tasks;', 'DROP VIEW report;'))
    ship(file('0004_audit', trigger, 'DROP TRIGGER IF EXISTS audit ON tasks;'))
    expect((await migrate(['diff', 'next', '--entities', AFTER])).exit).to.equal(0)
    expect((await migrate(['up'])).exit).to.equal(0)
    const before = files()
    const ran = await migrate(['diff', 'end', '--entities', AFTER, '--contract'])
    expect([ran.exit, ran.stdout]).to.deep.equal([1, ''])
    expect(ran.stderr)
      .to.match(/\bview report\b/)
      .and.match(/\btrigger audit\b/)
    expect(files()).to.deep.equal(before)
    expect(await scratches()).to.deep.equal([])
  })

  it('makes no version of what was done by hand in one database, and says how to bring that back', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    const live = (...args: readonly string[]) =>
      migrate(['diff', 'fix', '--entities', BEFORE, '--live', ...args])
    /** What differs, after the statements for it. */
    const broughtBack = async () => {
      const ran = await live('--json')
      const { details, bringsBack } = compared(ran)
      for (const sql of bringsBack.flatMap((text) => text.split(';')))
        if (/\S/.test(sql)) await database().rows(sql)
      return { exit: ran.exit, drift: kinds(details.drift) }
    }
    for (const sql of [
      'ALTER TABLE tasks DROP COLUMN colour',
      'ALTER TABLE tasks ADD COLUMN owner bigint',
      'CREATE UNIQUE INDEX titles ON tasks (title)',
    ])
      await database().rows(sql)
    for (const args of [[], ['--contract']]) {
      const { exit, stdout } = await live(...args)
      expect(exit).to.equal(1)
      expect(stdout)
        .to.match(/\n {2}ADD COLUMN .colour. /)
        .and.match(/\bashlar migrate diff NAME --entities \S+ --live\b/)
    }
    expect(await broughtBack()).to.deep.equal({
      exit: 1,
      drift: ['addColumn tasks colour', 'extraColumn tasks owner', 'extraIndex tasks'],
    })
    expect(await broughtBack()).to.deep.equal({ exit: 1, drift: ['spareDefault tasks colour'] })
    expect(compared(await live('--json'))).to.deep.include({ files: [], left: [], drift: [] })
    expect((await migrate(['verify', '--entities', BEFORE])).exit).to.equal(0)
    expect(files()).to.have.length(2)
    expect(await scratches()).to.deep.equal([])
  })

  it('refuses an old name that no column has', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    for (const command of [['diff', 'shade'], ['new', 'shade'], ['check']]) {
      const { exit, stderr } = await migrate([...command, '--entities', MISNAMED])
      expect([command[0], exit]).to.deep.equal([command[0], 2])
      expect(stderr).to.match(/misnamed\.js: entities: tasks\.shade: @RenamedFrom\("Co_lour"\) .*\bcolour\b/)
    }
    expect(files()).to.have.length(2)
  })

  it('says what a new required column waits for, as verify does', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    const expand = await migrate(['diff', 'next', '--entities', REQUIRED, '--json'])
    expect(expand.exit, expand.stderr).to.equal(0)
    const added = ['addColumn tasks kind', 'addColumn tasks size']
    expect(kinds(compared(expand).details.left)).to.deep.equal(added)
    const spare = ['spareDefault tasks kind', 'spareDefault tasks size']
    expect((await migrate(['up'])).exit).to.equal(0)
    const verify = async () => {
      const ran = await migrate(['verify', '--entities', REQUIRED, '--json'])
      expect(ran.exit).to.equal(1)
      return jsonOf<{ details: readonly TableDifference[]; left: readonly string[] }>(ran)
    }
    const verified = await verify()
    expect(kinds(verified.details)).to.deep.equal(spare)
    expect(verified.left).to.have.length(2)
    for (const { statement } of verified.details) expect(statement).to.match(/^ALTER TABLE /)
    await database().rows('ALTER TABLE tasks RENAME COLUMN colour TO hue')
    const renamed = await verify()
    expect(kinds(renamed.details)).to.include.members([...spare, 'addColumn tasks colour'])
    expect(renamed.left.length).to.be.lessThan(renamed.details.length)
    await database().rows('ALTER TABLE tasks RENAME COLUMN hue TO colour')
    expect((await migrate(['verify', '--entities', REQUIRED])).stdout).to.match(
      /\bashlar migrate diff NAME --entities \S+ --contract\b/,
    )
    await migrate(['diff', 'end', '--entities', REQUIRED, '--contract'])
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['verify', '--entities', REQUIRED])).exit).to.equal(0)
  })

  it('says which columns to fill before they are required, and plan what breaks', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    const fill = (column: string) =>
      `SELECT * FROM "tasks" WHERE "${column}" IS NULL`.replaceAll('"', dialect === 'postgres' ? '"' : '`')
    const expand = compared(await migrate(['diff', 'due', '--entities', FILLED, '--json']))
    const leftOf = (column: string) => expand.details.left.find((one) => one.column === column)
    expect(leftOf('note')).to.include({ fill: fill('note'), next: 'contract' })
    expect(leftOf('due_time')).to.include({ next: 'backfill' })
    expect((await migrate(['up'])).exit).to.equal(0)
    const contract = await migrate(['diff', 'end', '--entities', FILLED, '--contract', '--json'])
    expect(contract.exit, contract.stderr).to.equal(0)
    expect(compared(contract).details.fill).to.deep.equal(
      ['note', 'due_time'].map((column) => ({ table: 'tasks', column, fill: fill(column) })),
    )
    const planned = jsonOf<readonly PlannedVersion[]>(await migrate(['plan', '--json']))
    const breaks = planned.flatMap(({ statements }) => statements.flatMap((one) => one.breaks ?? []))
    const required = breaks.flatMap((one) => (one.kind === 'inserts' ? one.required : []))
    expect(required).to.include.members(['note', 'due_time'])
  })

  it('is what new --entities does where it has a connection string', async () => {
    const made = await migrate(['new', 'tasks', '--entities', BEFORE, '--json'])
    expect([made.exit, made.stderr]).to.deep.equal([0, await heading(BEFORE)])
    expect(compared(made).files).to.deep.equal(
      ['up', 'down'].map((way) => `migrations/${dialect}/0002_tasks.${way}.sql`),
    )
    const next = compared(await migrate(['new', 'next', '--entities', AFTER, '--json']))
    expect(next.files).to.include(`migrations/${dialect}/0003_next_add_to_tasks.up.sql`)
    expect(kinds(next.details.left)).to.include('extraColumn tasks colour')
    const none = await migrate(['new', 'more', '--entities', AFTER, '--json'])
    expect(none.exit).to.equal(0)
    expect(compared(none).files).to.deep.equal([])
    expect(kinds(compared(none).details.left)).to.include('extraColumn tasks colour')
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    const torn = await migrate(['new', 'more', '--entities', AFTER, '--dialect', other])
    expect(torn.exit).to.equal(2)
    expect(torn.stderr).to.include(`ashlar: --dialect ${other} `)
  })

  it('begins the folder of an engine that has none', async () => {
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    mkdirSync(join(folder, 'migrations', other), { recursive: true })
    const empty = await migrate(['new', 'other', '--json'])
    expect(compared(empty).files[0]).to.equal(`migrations/${other}/0002_other.up.sql`)
    expect(empty.stderr).to.match(new RegExp(`^note: .*--dialect ${dialect}\\b.*\n$`))
    const made = await migrate(['new', 'tasks', '--entities', BEFORE])
    expect(made.exit).to.equal(0)
    expect(made.stderr.replace(await heading(BEFORE), '')).to.match(
      new RegExp(`^note: .*\\b${other}\\b.*\n$`),
    )
    expect(files()).to.deep.equal(['0002_tasks.down.sql', '0002_tasks.up.sql'])
    rmSync(join(folder, 'migrations', dialect), { recursive: true })
    expect((await migrate(['new', 'more'])).stderr).to.include(`--dialect ${dialect}`)
    expect((await migrate(['diff', 'tasks', '--entities', BEFORE])).exit).to.equal(0)
    expect((await migrate(['new', 'more'])).stderr).to.equal('')
    expect((await migrate(['status'])).exit).to.equal(0)
  })

  it('names what is lacking where no database may be made, and takes an empty one instead', async () => {
    const user = await limitedUser(database(), dialect === 'postgres' ? [] : ['GRANT SELECT ON * TO USER'])
    const scratch = await freshDatabase(serviceUrl(dialect) ?? '')
    try {
      const denied = await migrate(['diff', 'tasks', '--entities', BEFORE, '--json'], {
        env: { ASHLAR_DATABASE_URL: user.url },
      })
      expect(denied.exit).to.equal(6)
      const { error } = jsonOf<{ error: { problems: readonly { kind: string; sqlState?: string }[] } }>(
        denied,
      )
      expect(error.problems[0]?.kind).to.equal('noRightForScratch')
      expect(error.problems[0]?.sqlState).to.match(dialect === 'postgres' ? /^42501$/ : /^10(44|45)$/)
      expect(denied.stderr).to.include('--scratch').and.not.include('hush')
      const done = await migrate(['diff', 'tasks', '--entities', BEFORE, '--scratch', scratch.url])
      expect([done.exit, done.stderr]).to.deep.equal([0, await heading(BEFORE, scratch.url)])
      expect(await scratch.tables()).to.deep.equal([])
      await scratch.rows('CREATE TABLE mine (id int)')
      const occupied = await problem('diff', 'more', '--entities', BEFORE, '--scratch', scratch.url)
      expect(occupied).to.deep.equal([2, 'scratchNotEmpty'])
      expect(await scratch.tables()).to.deep.equal(['mine'])
    } finally {
      await scratch.drop()
      await user.drop()
    }
  })

  it('refuses a folder that is not there, or is not the one of the versions of the database', async () => {
    const missing = await migrate(['diff', 'tasks', '--entities', BEFORE, '--files', 'migrashuns'])
    expect([missing.exit, missing.stdout]).to.deep.equal([2, ''])
    expect(missing.stderr).to.match(/^ashlar: .*\bashlar migrate new --files migrashuns\b/)
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    rmSync(join(folder, 'migrations'), { recursive: true })
    for (const verb of ['diff', 'new']) {
      const other = await migrate([verb, 'tasks', '--entities', BEFORE])
      expect([other.exit, other.stdout], verb).to.deep.equal([2, ''])
      expect(other.stderr).to.match(
        new RegExp(`ashlar: migrations .*\\b${database().name} .*\\b0002_tasks\\b`),
      )
    }
    expect(readdirSync(folder)).to.deep.equal([])
    mkdirSync(join(folder, 'sql'))
    const live = await migrate(['diff', 'tasks', '--entities', AFTER, '--files', 'sql', '--live'])
    expect(live.stderr).to.equal(
      saidOf(database(), await diffHeading({ files: 'sql', entities: AFTER, live: true })),
    )
    expect(live.stdout).to.match(/\bashlar migrate plan --files sql\n$/)
  })

  it('drops its databases when a file fails or it is told to end, and names those of others', async () => {
    ship(file('0002_wrong', 'INSERT INTO nowhere VALUES (1)', '-- nothing'))
    expect(await problem('diff', 'tasks', '--entities', BEFORE)).to.deep.equal([6, 'notReplayed'])
    ship(file('0002_wrong', dialect === 'postgres' ? 'SELECT pg_sleep(50)' : 'DO SLEEP(50)', '-- nothing'))
    const ended = await runCli('ashlar', ['migrate', 'diff', 'tasks', '--entities', BEFORE], {
      ...options(),
      started: (child) => {
        const timer = setInterval(() => {
          void scratches().then((found) => {
            if (found.length === 0) return
            clearInterval(timer)
            child.kill('SIGTERM')
          })
        }, 100)
      },
    })
    expect(ended.exit).to.equal(143)
    expect(await scratches()).to.deep.equal([])
    ship(file('0002_wrong', 'SELECT 1', '-- nothing'))
    const other = `${database().name}_ashlar_scratch_killed`
    await database().rows(`CREATE DATABASE ${other}`)
    try {
      const ran = await migrate(['diff', 'tasks', '--entities', BEFORE, '--json'])
      expect(ran.exit).to.equal(0)
      expect(compared(ran).leftovers).to.deep.equal([other])
      expect(ran.stderr).to.include(other)
    } finally {
      await database().rows(`DROP DATABASE ${other}`)
    }
  })
})
