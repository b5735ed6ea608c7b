import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file, onEachEngine, saidOf } from '../../migrations/each-engine.js'
import { freshDatabase } from '../../migrations/fresh-database.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import { serviceUrl } from '../../support/running/services.js'
import { runCli } from '../../support/run-cli.js'
import { runCommand, type RunOptions } from '../../support/run-command.js'

const entities = (name: string) => join(compiled, 'test', 'cli', 'migrate', 'hosts', `${name}.js`)
const [BEFORE, AFTER, REQUIRED] = [entities('before'), entities('after'), entities('required')]
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
  const heading = (module: string, scratch?: string) =>
    saidOf(database()).replace(
      /^(Database .* on (\S+?)(?:, schema public)?)\n$/,
      `Compares what the files of migrations make with the tables of ${module}, both in ${scratch === undefined ? 'scratch databases' : `the scratch database ${scratch}`} on $2${scratch === undefined ? ', which are dropped afterwards' : ''}. $1: not changed\n`,
    )
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

  it('takes a service from one version to the next in two deployments, and back', async () => {
    const made = await migrate(['diff', 'tasks', '--entities', BEFORE])
    expect([made.exit, made.stderr]).to.deep.equal([0, heading(BEFORE)])
    expect(files()).to.deep.equal(['0002_tasks.down.sql', '0002_tasks.up.sql'])
    expect((await migrate(['up'])).exit).to.equal(0)
    await database().rows(
      `INSERT INTO tasks (account_id, id, title, colour) VALUES ('t', '1', 'build', 'red')`,
    )

    const expand = await migrate(['diff', 'next', '--entities', AFTER])
    expect([expand.exit, expand.stderr]).to.deep.equal([0, heading(AFTER)])
    expect(expand.stdout)
      .to.include('left for the contract:')
      .and.include('tasks.colour is not in the model')
      .and.match(/\nNext: ashlar migrate plan\n$/)
    const again = await migrate(['diff', 'again', '--entities', AFTER])
    expect(again.stdout).to.match(
      /^nothing is written: all that the files lack is left for the contract\nleft for the contract:\n[^]*\nNext: ashlar migrate diff NAME --entities \S+after\.js --contract, once no process with the older code runs\n$/,
    )
    expect(again.stdout).to.include('the file that drops it\n').and.not.include('of yours')
    expect((await migrate(['verify', '--entities', AFTER])).stdout).to.include(
      'unless a file of yours does already',
    )
    expect((await migrate(['lint'])).exit).to.equal(0)
    const early = await migrate(['diff', 'end', '--entities', AFTER, '--contract', '--live'])
    expect([early.exit, early.stdout]).to.deep.equal([1, ''])
    expect(early.stderr).to.match(
      /ashlar: nothing is written: 0003_next\S*.* pending, .*: run ashlar migrate up first/,
    )
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['diff', 'end', '--entities', AFTER, '--live'])).stdout).to.match(
      /\nNext: ashlar migrate diff NAME --entities \S+after\.js --live --contract, once/,
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
    expect([contract.exit, contract.stderr]).to.deep.equal([0, heading(AFTER)])
    expect(contract.stdout).to.match(
      /\nthe contract is a deployment of its own: .*\nNext: ashlar migrate plan, once no process with the older code runs\n$/,
    )
    expect((await migrate(['lint'])).exit).to.equal(0)
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['verify', '--entities', AFTER])).exit).to.equal(0)
    expect((await migrate(['diff', 'more', '--entities', AFTER, '--live'])).stdout).to.equal(
      'nothing is written: the database has what the entities need\n',
    )
    const none = await migrate(['diff', 'more', '--entities', AFTER])
    expect([none.exit, none.stdout]).to.deep.equal([
      0,
      'nothing is written: the files make what the entities need (the live database is not compared: ashlar migrate verify --entities does, and ashlar migrate diff NAME --live says how to make it as the files are)\n',
    ])
    const sql = files()
      .filter((name) => !name.startsWith('0002'))
      .map((name) => `-- ${name}\n${readFileSync(join(folder, 'migrations', dialect, name), 'utf8')}`)
    expectGolden(`sql/migrate-diff-tasks.${dialect}.sql`, sql.join('\n'))

    expect((await migrate(['down', '--to', '2', '--yes'])).exit).to.equal(0)
    const names = await database().rows('SELECT title FROM tasks ORDER BY id')
    expect(names.map(({ title }) => title)).to.deep.equal(['build', 'rest', 'ship'])
    expect(await scratches()).to.deep.equal([])
  })

  it('makes no version of what was done by hand in one database, and says how to bring that back', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    const live = (...args: readonly string[]) =>
      migrate(['diff', 'fix', '--entities', BEFORE, '--live', ...args])
    /** What it says, and the statements. */
    const broughtBack = async () => {
      const { exit, stdout } = await live('--json')
      const { drift, bringsBack } = JSON.parse(stdout) as Record<'drift' | 'bringsBack', readonly string[]>
      for (const sql of bringsBack.flatMap((text) => text.split(';')))
        if (/\S/.test(sql)) await database().rows(sql)
      return { exit, drift }
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
        .to.match(
          /^nothing is written: this database is not what the files make, and a version for that would fail in every other one:\ntasks\.colour is missing\ntasks\.owner is not in the model\nthe index titles of tasks is UNIQUE \(title\), which the model does not have\nread these statements, and run them by hand in this database alone, to bring it back:\n/,
        )
        .and.match(
          /\n {2}ADD COLUMN .colour. [^]*\nNext: ashlar migrate diff NAME --entities \S+ --live, again, /,
        )
    }
    expect(await broughtBack()).to.deep.equal({
      exit: 1,
      drift: [
        'tasks.colour is missing',
        'tasks.owner is not in the model',
        'the index titles of tasks is UNIQUE (title), which the model does not have',
      ],
    })
    expect(await broughtBack()).to.deep.equal({
      exit: 1,
      drift: [`tasks.colour keeps the default '', which let older images leave it out`],
    })
    expect((await live()).stdout).to.equal('nothing is written: the database has what the entities need\n')
    expect((await migrate(['verify', '--entities', BEFORE])).exit).to.equal(0)
    expect(files()).to.have.length(2)
    expect(await scratches()).to.deep.equal([])
  })

  it('refuses an old name that no column has', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    for (const command of [['diff', 'shade'], ['new', 'shade'], ['check']]) {
      const { exit, stderr } = await migrate([...command, '--entities', MISNAMED])
      expect([command[0], exit]).to.deep.equal([command[0], 2])
      expect(stderr).to.include(
        `${MISNAMED}: entities: tasks.shade: @RenamedFrom("Co_lour") takes the old name of the column in the database, and there is no such column; did you mean colour?`,
      )
    }
    expect(files()).to.have.length(2)
  })

  it('says what a new required column waits for, in the words of verify', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    const expand = await migrate(['diff', 'next', '--entities', REQUIRED])
    expect(expand.exit, expand.stderr).to.equal(0)
    const [, left = ''] = expand.stdout.split('left for the contract:\n')
    expect(left).to.equal(
      [
        `tasks.kind has the default '', which lets older images leave it out, until the contract\n`,
        `tasks.size has the default 0, which lets older images leave it out, until the contract\n`,
        'Next: ashlar migrate plan\n',
      ].join(''),
    )
    expect((await migrate(['up'])).exit).to.equal(0)
    const verified = await migrate(['verify', '--entities', REQUIRED])
    expect(verified.exit).to.equal(1)
    expect(verified.stdout).to.match(
      /^nothing differs but what is left for the contract:\ntasks\.kind keeps /,
    )
    await database().rows('ALTER TABLE tasks RENAME COLUMN colour TO hue')
    expect((await migrate(['verify', '--entities', REQUIRED])).stdout).to.match(
      /^tasks\.colour is missing, [^\n]*\nleft for the contract:\ntasks\.kind keeps /,
    )
    await database().rows('ALTER TABLE tasks RENAME COLUMN hue TO colour')
    expect(`${verified.stdout}${verified.stderr}`).to.match(
      /tasks\.size keeps the default .*: once none of them runs, ashlar migrate diff NAME --contract writes ALTER TABLE[^]*\nNext: ashlar migrate diff NAME --entities \S+ --contract, once no process with the older code runs\n/,
    )
    await migrate(['diff', 'end', '--entities', REQUIRED, '--contract'])
    expect((await migrate(['up'])).exit).to.equal(0)
    expect((await migrate(['verify', '--entities', REQUIRED])).exit).to.equal(0)
  })

  it('says which columns to fill before they are required, and plan what breaks', async () => {
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    const sql = (text: string) => text.replaceAll('"', dialect === 'postgres' ? '"' : '`')
    const finds = (column: string) =>
      sql(
        `SELECT * FROM "tasks" WHERE "${column}" IS NULL finds the rows, and ashlar migrate new NAME begins a backfill`,
      )
    const expand = await migrate(['diff', 'due', '--entities', FILLED])
    expect(expand.stdout)
      .to.include(
        `\ntasks.note takes NULL and has to be NOT NULL: fill it first (${finds('note')}); once no older image runs, ashlar migrate diff NAME --contract writes the file for it\n`,
      )
      .and.include(
        '\ntasks.due_time takes NULL, which lets older images leave it out, and is NOT NULL after the contract: fill it before, with the backfill of ashlar migrate new NAME\n',
      )
    expect((await migrate(['up'])).exit).to.equal(0)
    const contract = await migrate(['diff', 'end', '--entities', FILLED, '--contract'])
    expect(contract.exit, contract.stderr).to.equal(0)
    expect(contract.stdout).to.include(
      `\nfill these columns first, because NOT NULL fails where a row has no value:\ntasks.note: ${finds('note')}\ntasks.due_time: ${finds('due_time')}\nNext: `,
    )
    const plan = await migrate(['plan'])
    for (const column of ['note', 'due_time'])
      expect(plan.stdout).to.include(
        `breaks: code that writes NULL to ${column} fails, and so does an INSERT that leaves it out, unless it has a default\n`,
      )
  })

  it('is what new --entities does where it has a connection string', async () => {
    const made = await migrate(['new', 'tasks', '--entities', BEFORE])
    expect([made.exit, made.stderr]).to.deep.equal([0, heading(BEFORE)])
    expect(made.stdout).to.equal(
      `${['up', 'down'].map((way) => `written migrations/${dialect}/0002_tasks.${way}.sql\n`).join('')}Next: ashlar migrate plan\n`,
    )
    const next = await migrate(['new', 'next', '--entities', AFTER])
    expect(next.exit).to.equal(0)
    expect(next.stdout).to.match(/0003_next_add_to_tasks\.up\.sql\n/)
    expect(next.stdout).to.match(/\nleft for the contract:\n[^]*tasks\.colour is not in the model/)
    const none = await migrate(['new', 'more', '--entities', AFTER])
    expect(none.exit).to.equal(0)
    expect(none.stdout).to.match(
      /^nothing is written: all that the files lack is left for the contract\nleft for the contract:\n/,
    )
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    const torn = await migrate(['new', 'more', '--entities', AFTER, '--dialect', other])
    expect([torn.exit, torn.stderr]).to.deep.equal([
      2,
      `${heading(AFTER)}ashlar: --dialect ${other} and a connection string of ${dialect}: leave one of them out, since files are written for the engine of the connection string\n`,
    ])
  })

  it('begins the folder of an engine that has none', async () => {
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    mkdirSync(join(folder, 'migrations', other), { recursive: true })
    const empty = await migrate(['new', 'other'])
    expect(empty.stdout).to.match(new RegExp(`^written migrations/${other}/0002_other`))
    expect(empty.stderr).to.equal(
      `note: nothing is written for ${dialect}, the engine of the connection string: --dialect ${dialect} begins its folder\n`,
    )
    const made = await migrate(['new', 'tasks', '--entities', BEFORE])
    expect([made.exit, made.stderr]).to.deep.equal([
      0,
      `${heading(BEFORE)}note: nothing is written for ${other}: run this again with a connection string of it\n`,
    ])
    expect(files()).to.deep.equal(['0002_tasks.down.sql', '0002_tasks.up.sql'])
    rmSync(join(folder, 'migrations', dialect), { recursive: true })
    expect(await migrate(['new', 'more']))
      .to.have.property('stderr')
      .that.includes('nothing is written for')
    expect((await migrate(['diff', 'tasks', '--entities', BEFORE])).exit).to.equal(0)
    expect((await migrate(['new', 'more'])).stderr).to.equal('')
    expect((await migrate(['status'])).exit).to.equal(0)
  })

  it('names what is lacking where no database may be made, and takes an empty one instead', async () => {
    const user = await limitedUser(database(), dialect === 'postgres' ? [] : ['GRANT SELECT ON * TO USER'])
    const scratch = await freshDatabase(serviceUrl(dialect) ?? '')
    try {
      const denied = await migrate(['diff', 'tasks', '--entities', BEFORE], {
        env: { ASHLAR_DATABASE_URL: user.url },
      })
      expect([denied.exit, denied.stdout]).to.deep.equal([6, ''])
      expect(denied.stderr).to.match(
        dialect === 'postgres'
          ? /\(42501\): grant it the right \(ALTER ROLE … CREATEDB\)/
          : /\(10(44|45)\): grant it the right/,
      )
      expect(denied.stderr).to.include('--scratch').and.not.include('hush')
      const done = await migrate(['diff', 'tasks', '--entities', BEFORE, '--scratch', scratch.url])
      expect([done.exit, done.stderr]).to.deep.equal([0, heading(BEFORE, scratch.name)])
      expect(await scratch.tables()).to.deep.equal([])
      await scratch.rows('CREATE TABLE mine (id int)')
      const occupied = await migrate(['diff', 'more', '--entities', BEFORE, '--scratch', scratch.url])
      expect(occupied.exit).to.equal(2)
      expect(occupied.stderr).to.include('the scratch database is not empty')
      expect(await scratch.tables()).to.deep.equal(['mine'])
    } finally {
      await scratch.drop()
      await user.drop()
    }
  })

  it('refuses a folder that is not there, or is not the one of the versions of the database', async () => {
    const missing = await migrate(['diff', 'tasks', '--entities', BEFORE, '--files', 'migrashuns'])
    expect([missing.exit, missing.stdout]).to.deep.equal([2, ''])
    expect(missing.stderr).to.equal(
      'ashlar: there is no folder migrashuns: name the one with the files; the first ones are written by ashlar migrate new --files migrashuns\n',
    )
    await migrate(['diff', 'tasks', '--entities', BEFORE])
    await migrate(['up'])
    rmSync(join(folder, 'migrations'), { recursive: true })
    for (const verb of ['diff', 'new']) {
      const other = await migrate([verb, 'tasks', '--entities', BEFORE])
      expect([other.exit, other.stdout], verb).to.deep.equal([2, ''])
      expect(other.stderr).to.include(
        `migrations has no version for ${dialect}, and the database ${database().name} has 0002_tasks: name the folder of their files with --files`,
      )
    }
    expect(readdirSync(folder)).to.deep.equal([])
    mkdirSync(join(folder, 'sql'))
    const live = await migrate(['diff', 'tasks', '--entities', AFTER, '--files', 'sql', '--live'])
    expect(live.stderr).to.match(
      /^Compares the tables of the live database with those of \S+ and with what the files of sql make, both in .*: nothing is changed in it\n$/,
    )
    expect(live.stdout).to.match(/\nNext: ashlar migrate plan --files sql\n$/)
  })

  it('drops its databases when a file fails or it is told to end, and names those of others', async () => {
    ship(file('0002_wrong', 'INSERT INTO nowhere VALUES (1)', '-- nothing'))
    const failed = await migrate(['diff', 'tasks', '--entities', BEFORE])
    expect(failed.exit).to.equal(6)
    expect(failed.stderr).to.include(
      'the files cannot be replayed into the scratch database: 0002_wrong.up.sql',
    )
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
      const { exit, stderr } = await migrate(['diff', 'tasks', '--entities', BEFORE, '--json'])
      expect(exit).to.equal(0)
      expect(stderr).to.include(`the database ${other} is of another comparison: drop it`)
    } finally {
      await database().rows(`DROP DATABASE ${other}`)
    }
  })
})
