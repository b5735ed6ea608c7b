import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../../lib/migrations/index.js'
import { file, onEachEngine, saidOf, tables } from '../../migrations/each-engine.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { hold, untilRow, waitingForLock } from '../../migrations/fresh-database.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { versionState } from '../../support/projects/version-state.js'
import { compiled } from '../../support/root.js'
import { lossText } from '../../../cli/migrate/lines/sizes.js'
import { runCommand } from '../../support/run-command.js'

const BEFORE = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'before.js')
const AFTER = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'after.js')

describe('the size of what is lost', () => {
  it('is left out where the server has not counted it yet', () => {
    const lost = { what: 'table', name: 'widgets', table: 'widgets' } as const
    expect(lossText({ ...lost, size: { rows: 200_000, bytes: 16_384 } })).to.equal(
      'table widgets (about 200000 rows)',
    )
    expect(lossText({ ...lost, size: { rows: 200, bytes: 16_384 } })).to.equal(
      'table widgets (about 200 rows, 16 KiB)',
    )
    expect(lossText({ ...lost, size: { rows: 0, bytes: 16_384 } })).to.equal(
      'table widgets (no rows, 16 KiB)',
    )
  })
})

describe('ashlar migrate renumber', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-renumber-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const run = (...args: readonly string[]) => runCommand(['migrate', 'renumber', ...args], { cwd: folder })
  const ship = (engine: string, ...names: readonly string[]) => {
    mkdirSync(join(folder, 'migrations', engine), { recursive: true })
    for (const name of names)
      for (const way of ['up', 'down'])
        writeFileSync(join(folder, 'migrations', engine, `${name}.${way}.sql`), `-- ${name}`)
  }
  const versions = (engine: string) =>
    readdirSync(join(folder, 'migrations', engine))
      .filter((name) => name.endsWith('.up.sql'))
      .map((name) => name.replace('.up.sql', ''))
      .sort()

  it('gives the versions of a branch the numbers behind all others, in each engine', async () => {
    ship('postgres', '0002_a', '0003_b', '0003_c', '0004_c', '9001_x')
    ship('mysql', '0002_a', '0003_c')
    const { exit, stdout, stderr } = await run('0003_c', '0004_c')
    expect(exit).to.equal(0)
    expect(stderr).to.equal(
      'note: the order of the versions is another now: 0004_c, 0005_c run behind all other versions of yours\n' +
        'note: a database that has applied them under the old number, perhaps your own (ashlar migrate status shows its versions), refuses these files: there, with the files of the branch as it was before the merge, ashlar migrate down --to 2 takes back what they made\n',
    )
    expect(stdout).to.equal(
      'renumbered migrations/postgres/0003_c to 0004_c\nrenumbered migrations/postgres/0004_c to 0005_c\nNext: ashlar migrate lint\n',
    )
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_b', '0004_c', '0005_c', '9001_x'])
    expect(versions('mysql')).to.deep.equal(['0002_a', '0003_c'])
    expect(await run('0005_c')).to.include({
      stdout: 'nothing to do: they have the last numbers already\n',
      stderr: '',
    })
  })

  it('says which versions run before the others now, where not all of a branch were named', async () => {
    ship('postgres', '0002_a', '0003_size', '0003_labels', '0004_fill')
    const lint = await runCommand(['migrate', 'lint'], { cwd: folder })
    expect(lint.stderr).to.include(
      '0003_size: 0003_labels has the number 0003 already, as when two branches took the same one: name every version of the branch that is merged last, in its order, where no database has applied them: ashlar migrate renumber 0003_labels or 0003_size, and behind it those of that branch among 0004_fill',
    )
    const { stderr } = await run('0003_size')
    expect(stderr).to.include(
      'note: 0004_fill runs before 0005_size now: where it is of the same branch, ashlar migrate renumber 0005_size 0004_fill puts it behind again',
    )
    expect((await run('0005_size', '0004_fill')).stderr).not.to.include('of the same branch')
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_labels', '0004_size', '0005_fill'])
  })

  for (const name of ['0001_framework_init', '8001_outbox_log', '9001_x', 'c', '../0003_c', '0009_none'])
    it(`refuses ${name}, and renames nothing`, async () => {
      ship('postgres', '0002_a', '0003_b', '0003_c', '9001_x')
      const { exit, stdout } = await run('0003_c', name)
      expect([exit, stdout]).to.deep.equal([2, ''])
      expect(versions('postgres')).to.deep.equal(['0002_a', '0003_b', '0003_c', '9001_x'])
    })

  it('names the folder that is not there', async () => {
    const { exit, stderr } = await run('0003_b', '--files', 'nosuch')
    expect([exit, stderr.startsWith('ashlar: there is no folder nosuch: ')]).to.deep.equal([2, true])
  })

  it('refuses to leave a gap, in each engine before it renames anything', async () => {
    ship('mysql', '0002_a', '0003_b')
    ship('postgres', '0002_a', '0003_b', '0004_c')
    const { exit, stderr } = await run('0003_b')
    expect([exit, stderr]).to.deep.equal([
      2,
      'ashlar: nothing is renamed: no other version of migrations/postgres has the number of 0003_b, and numbers have no gaps: name the versions behind it as well (0004_c)\n',
    ])
    expect(versions('mysql')).to.deep.equal(['0002_a', '0003_b'])
    expect((await run('0004_c', '0003_b')).exit).to.equal(0)
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_c', '0004_b'])
  })
})

/** What `down` says of a version that nothing keeps from coming back. */
const pending = (name: string) =>
  `${name} is pending: the next ashlar migrate up, also that of a deployment with these files, applies it again\n`

onEachEngine('the commands of an operator', (database, dialect) => {
  const place = operatorFolder(database)
  const { run, refusal } = place
  const stateOf = (name: string, ...args: readonly string[]) => versionState(run, name, ...args)
  const ship = (files: Readonly<Record<string, string>>) => place.ship(files, `migrations/${dialect}`)

  it('go up to a version, and down by one once it is confirmed what is lost', async () => {
    ship(tables(2, 3))
    expect((await run('up', '--to', '2')).stdout).to.match(/^applied 0002_t2\n/)
    expect((await run('up', '--to', '2')).stdout).to.equal(
      'nothing to do: the schema has every version up to 2\nNext: ashlar migrate up, which applies 0003_t3\n',
    )
    expect((await run('up', '--to', '4')).stderr).to.include(
      '0004 is not a version of these files: they have 0001 to 0003 and 8001',
    )
    await run('up')
    const refused = await run('down')
    expect([refused.exit, refused.stdout]).to.deep.equal([2, ''])
    expect(refused.stderr).to.include('0003_t3 loses table t3 (')
    expect((await run('down', '--yes')).stdout).to.match(/^rolled back 0003_t3\n/)
    expect((await run('redo')).exit).to.equal(2)
    expect((await run('redo', '--yes')).stdout).to.match(/^rolled back 0002_t2\napplied 0002_t2\n/)
  })

  for (const given of ['00x3', 'abc', '', '-1', '10000', '0003_t3'])
    it(`say what --to expects in place of ${JSON.stringify(given)}`, async () => {
      for (const verb of ['up', 'down'])
        expect(await run(verb, `--to=${given}`)).to.include({
          exit: 2,
          stderr: `ashlar: --to takes the number of a version from ${verb === 'up' ? 1 : 0} to 9999, such as 12 for 0012_add_colour, and “${given}” is none: migrate status lists the versions; see --help\n`,
        })
    })

  it('say what a flag with a number expects', async () => {
    expect((await run('up', '--lock-timeout', 'long')).stderr).to.equal(
      'ashlar: --lock-timeout takes a whole number, and “long” is none; see --help\n',
    )
    expect((await run('up', '--lock-timeout', '0')).stderr).to.equal(
      'ashlar: --lock-timeout is 1 or more, and not 0; see --help\n',
    )
  })

  it('say what to do next, where something is left', async () => {
    ship(tables(2, 3))
    const next = 'Next: ashlar migrate up, which applies 0003_t3\n'
    expect((await run('up', '--to', '2')).stdout).to.equal(`applied 0002_t2\n${next}`)
    expect((await run('up')).stdout).to.not.include('Next:')
    expect((await run('redo', '--yes')).stdout).to.not.include('Next:')
    expect((await run('down', '--yes')).stdout).to.equal(`rolled back 0003_t3\n${pending('0003_t3')}`)
    expect((await run('redo', '--yes')).stdout).to.match(new RegExp(`\n${next}$`))
    ship({ '0002_t2.up.sql': 'CREATE TABLE t2 (id bigint NOT NULL PRIMARY KEY)' })
    expect((await run('repair', '--yes')).stdout).to.match(new RegExp(`\n${next}$`))
    const resolved = await run('resolve', '--applied', '3', '--yes')
    expect(resolved.stdout.match(/^Next: /gm)).to.have.length(1)
    expect(resolved.stdout).to.match(
      /\nNext: ashlar migrate verify --entities MODULE, which compares [^\n]*\n$/,
    )
    await database().rows('CREATE TABLE kept AS SELECT * FROM ashlar_migrations')
    await database().rows('DELETE FROM ashlar_migrations')
    expect(await refusal('resolve', '--applied', '3', '--yes')).to.deep.include({
      exit: 6,
      kind: 'noVersionRecorded',
      version: '0003_t3',
    })
    await database().rows('INSERT INTO ashlar_migrations SELECT * FROM kept')
  })

  it('say how many rows a backfill has written', async () => {
    ship({
      ...file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY, n bigint)', 'DROP TABLE t2'),
      ...file('0003_fill', '-- ashlar:backfill\nUPDATE t2 SET n = 1 WHERE id < 4', '-- they stay'),
    })
    await run('up', '--to', '2')
    await database().rows('INSERT INTO t2 (id) VALUES (1), (2), (3), (4), (5)')
    expect((await run('up')).stdout).to.equal('applied 0003_fill: 3 rows written\n')
    const redone = await run('redo', '--json')
    const again = '0003_fill: its position is forgotten: up begins at the first row again, and writes'
    expect(redone.stderr).to.include(`note: ${again} the rows that its WHERE takes then a second time\n`)
    expect(JSON.parse(redone.stdout)).to.have.deep.property('filled', [
      { version: '0003_fill', rows: 3, earlier: 0 },
    ])
  })

  it('say before and after a roll back which values do not come back', async () => {
    ship({
      ...file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY, n bigint)', 'DROP TABLE t2'),
      ...file('0003_end', 'ALTER TABLE t2 DROP COLUMN n', 'ALTER TABLE t2 ADD COLUMN n bigint'),
    })
    await run('up')
    const { exit, stdout, stderr } = await run('down')
    const said = '0003_end took away column n of t2: its way down does not bring the values back\n'
    expect([exit, stdout]).to.deep.equal([0, `rolled back 0003_end\n${said}${pending('0003_end')}`])
    expect(stderr).to.include(`note: ${said}rolling back 0003_end`)
    await run('up')
    const asked = await run('down', '--to', '1')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr)
      .to.include(`note: ${said}ashlar: nothing is changed`)
      .and.include('0002_t2 loses table t2')
  })

  it('say after a roll back without a statement that everything stays, and what that means', async () => {
    ship(file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY)', '-- nobody wants it undone'))
    await run('up')
    expect((await run('down')).stdout).to.equal(
      'rolled back 0002_t2\n0002_t2 has no statement to roll back, and what it did stays: where migrate up fails because of that, ashlar migrate resolve --applied 2 records it again\n' +
        pending('0002_t2'),
    )
    expect((await run('up')).exit).to.equal(6)
    expect((await run('resolve', '--applied', '2', '--yes')).exit).to.equal(0)
    expect((await run('up')).exit).to.equal(0)
  })

  it('plan what is lost and what breaks, and how a lock is waited for, once', async () => {
    ship({
      ...file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY, n bigint)', 'DROP TABLE t2'),
      ...file('0003_end', 'ALTER TABLE t2 DROP COLUMN n; ALTER TABLE t2 ADD COLUMN m bigint', '-- no'),
    })
    await run('up', '--to', '2')
    const { exit, stdout } = await run('plan')
    expect(exit).to.equal(0)
    expect(stdout)
      .to.match(/\n {4}loses column n of t2.*: the values are gone for good\n/)
      .and.match(/\n {4}breaks: code that still reads or writes the column fails\n/)
    const waits =
      /up gives up waiting after --lock-timeout \(by default 2000 ms\), and can then be run again\.\n/g
    expect(stdout.match(waits)).to.have.length(1)
    if (dialect === 'mysql')
      expect(stdout).to.match(/takes the metadata lock for a moment when it begins and when/)
    ship({ '0002_t2.up.sql': 'CREATE TABLE t2 (id int)' })
    expect(await refusal('plan')).to.deep.include({ exit: 6, kind: 'edited' })
  })

  it('ask nothing about a version that failed and left nothing, and name the size of what is lost', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    await run('up')
    const gone = await run('down')
    expect([gone.exit, gone.stdout]).to.deep.equal([0, `rolled back 0003_t3\n${pending('0003_t3')}`])
    expect(gone.stderr).to.include('recovering 0003_t3: it failed and left nothing behind: nothing is run')
    await database().rows('INSERT INTO t2 VALUES (1), (2)')
    await database().rows(dialect === 'postgres' ? 'ANALYZE t2' : 'ANALYZE TABLE t2')
    expect((await run('down')).stderr).to.match(
      /ashlar: nothing is changed: this asks first, .*--yes confirms it\. Database \S+ on [^ ]+(?:, schema public)?: This rolls back 0002_t2\. What it loses is gone for good: 0002_t2 loses table t2 \(about 2 rows, \d+ KiB\)\.\n$/,
    )
    expect((await run('down', '--to', '0')).stderr).to.match(
      /This rolls back [^.]*0002_t2[^.]* and drops the framework’s own tables, with what is in them \([^.]*, outbox\)\. What they lose is gone for good: 0002_t2 loses/,
    )
  })

  it('ask nothing where nothing is lost', async () => {
    ship(file('0002_v', 'CREATE VIEW v AS SELECT 1 AS one', 'DROP VIEW v'))
    await run('up')
    expect((await run('redo')).stdout).to.equal('rolled back 0002_v\napplied 0002_v\n')
    expect((await run('down')).stdout).to.equal(`rolled back 0002_v\n${pending('0002_v')}`)
    expect((await run('down')).stdout).to.equal(
      'nothing to do: only the framework’s own versions are applied; --to 0 rolls them back\n',
    )
    expect((await run('redo')).stdout).to.equal(
      'nothing to do: no version of the module is applied\nNext: ashlar migrate up, which applies 0002_v\n',
    )
  })

  it('carry the files, and on PostgreSQL the module, in the commands that they name', async () => {
    ship(file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY)', '-- nobody wants it undone'))
    const kept = ['--files', `migrations/${dialect}`, ...(dialect === 'postgres' ? ['--module', 'inv'] : [])]
    const said = kept.join(' ')
    expect((await run('status', ...kept)).stdout).to.include(
      `ashlar migrate up ${said} applies what is pending`,
    )
    expect((await run('verify', ...kept)).stdout).to.include(`run ashlar migrate up ${said}\n`)
    await run('up', ...kept)
    expect((await run('down', ...kept)).stdout).to.include(
      `ashlar migrate resolve ${said} --applied 2 records it again\n0002_t2 is pending: the next ashlar migrate up ${said}, also`,
    )
  })

  it('name no next command that would refuse, and refuse before they ask or roll back', async () => {
    ship(tables(2, 3, 4))
    await run('up')
    const edit = 'CREATE TABLE t2 (id bigint NOT NULL PRIMARY KEY)'
    ship({ '0002_t2.up.sql': edit })
    for (const args of [['redo', '--yes'], ['redo']])
      expect(await refusal(...args)).to.deep.include({ exit: 6, kind: 'edited', hasChanged: undefined })
    expect((await run('down', '--yes')).stdout).to.equal('rolled back 0004_t4\n')
    ship({ '0003_t3.down.sql': 'DROP TABLE t3; COMMIT' })
    expect(await refusal('down')).to.deep.include({ exit: 2, kind: 'refused', file: '0003_t3.down.sql' })
    const resolve = await refusal('resolve', '--applied', '2')
    expect(resolve).to.deep.include({ exit: 6, kind: 'appliedAlready', version: '0002_t2' })
  })

  it('say of two files with one number which one is applied', async () => {
    ship(tables(2))
    await run('up')
    ship(file('0002_z', 'SELECT 1', '-- nothing'))
    const twice = { exit: 2, kind: 'duplicateNumber', applied: ['0002_t2'] }
    for (const verb of ['status', 'up']) expect(await refusal(verb)).to.deep.include({ ...twice, behind: [] })
    ship(file('0003_t3', 'SELECT 1', '-- nothing'))
    expect(await refusal('up')).to.deep.include({ ...twice, behind: ['0003_t3'] })
  })

  it('name resolve for what is there already', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    ship(tables(2))
    expect((await run('up')).stderr).to.include(
      'correct it and run again; or, where all that the file makes is there already, ashlar migrate resolve --applied 2 records it without running it',
    )
    expect((await run('resolve', '--applied', '2', '--yes')).exit).to.equal(0)
  })

  it('say of a contract that is taken back in part what an older image needs', async () => {
    const allow = '-- ashlar:allow ban-drop-column\n'
    ship({
      ...file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, a int, b int)', 'DROP TABLE t'),
      ...file('0003_a', `${allow}ALTER TABLE t DROP COLUMN a`, 'ALTER TABLE t ADD COLUMN a int'),
      ...file('0004_b', `${allow}ALTER TABLE t DROP COLUMN b`, 'ALTER TABLE t ADD COLUMN b int'),
    })
    await run('up')
    const line =
      /0004_b is of a contract: an image from before that needs each of its versions rolled back, with ashlar migrate down/
    expect((await run('down')).stdout).to.match(line)
    await run('up')
    expect((await run('down', '--to', '2')).stdout).not.to.match(/is of a contract/)
  })

  it('record a baseline, and what was put right by hand', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    const baseline = await run('baseline', '--to', '2')
    expect(baseline.stderr).to.include('note: to take a record back, delete its row of ashlar_migrations: ')
    expect(baseline.stdout).to.equal(
      'recorded 0002_t2 as applied: nothing of it was run\nNext: ashlar migrate up, then ashlar migrate verify --entities MODULE: nothing was compared with the tables\n',
    )
    expect(await stateOf('0002_t2')).to.include({ state: 'applied', isRecorded: true })
    expect((await run('up')).exit).to.equal(6)
    expect((await run('resolve')).stderr).to.include(
      'say either --applied <version> or --rolled-back <version>',
    )
    const asked = await run('resolve', '--applied', '3')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.match(
      /Database \S+ on [^ ]+(?:, schema public)?: This records 0003_t3 as applied, without running it: what its statements do has to be there already\.( Statement 1 of 2 is recorded as done\.)?\n$/,
    )
    expect((await run('resolve', '--rolled-back', '3', '--yes')).stdout).to.equal(
      'recorded 0003_t3 as not applied: nothing was run\nNext: ashlar migrate up, which applies 0003_t3\n',
    )
    expect((await run('resolve', '--applied', '3', '--yes')).stdout).to.match(
      /^recorded 0003_t3 as applied: nothing was run\nNext: [^\n]*\n$/,
    )
    expect((await run('up')).stdout).to.equal('nothing to do: the schema is current\n')
    expect((await run('baseline', '--to', '2')).exit).to.equal(6)
  })

  it('say of a rollback that stopped what up does first', async () => {
    const up = 'CREATE TABLE c1 (id bigint);\nCREATE TABLE c2 (id bigint)'
    ship(file('0002_c', up, 'DROP TABLE c1;\nINSERT INTO nowhere VALUES (1);\nDROP TABLE c2'))
    await run('up')
    await run('down', '--yes')
    const { exit, stdout } = await run('plan')
    expect(exit).to.equal(0)
    if (dialect === 'postgres') {
      const mark = 'its rollback failed and took nothing away; up only clears the mark'
      expect(stdout).to.equal(`0002_c\n  ${mark}\n`)
      const left = await stateOf('0002_c')
      expect(left).to.include({ state: 'dirty' }).and.have.property('appliedAt')
      expect(left?.unfinished).to.include({ direction: 'down', staysApplied: true })
      expect(left?.error).to.include('0002_c.down.sql')
      expect((await run('dry-run')).stdout).to.match(
        /^nothing to do: .*; 0002_c is dirty: ashlar migrate status says what to do\n$/,
      )
    } else {
      const stopped =
        'its rollback stopped after statement 1 of 3: up first finishes it (statements 2 to 3) and asks before (--yes)'
      expect(stdout).to.match(
        new RegExp(
          `^0002_c\n  ${stopped.replaceAll(/[()]/g, '.')}, and then applies the file again\n  rollback, statement 2: INSERT INTO nowhere [^]*  rollback, statement 3: DROP TABLE c2\n[^]*loses table c2[^]*line 1: CREATE TABLE c1 `,
        ),
      )
      expect((await run('dry-run')).stderr).to.match(
        /: This first finishes the rollback of 0002_c, which stopped, and then applies 0002_c to it, so it has to be a copy\.\n$/,
      )
      expect((await run('resolve', '--rolled-back', '2')).stderr).to.match(
        /Of its rollback, statements 2 to 3 of 3 may not be done: do that by hand before\.\n$/,
      )
    }
  })

  it('say of a version that failed what comes next, also where the files do not have it', async () => {
    const broken = 'CREATE TABLE t3 (id bigint);\nnonsense'
    ship({ ...tables(2), ...file('0003_t3', broken, 'DROP TABLE t3') })
    await run('up')
    expect((await run('plan')).stderr).to.include(
      'note: 0003_t3 did not come to its end in an earlier run: ashlar migrate status says why\n',
    )
    expect(await stateOf('0003_t3')).to.include({ state: 'dirty', isMissing: true })
    for (const way of ['up', 'down']) rmSync(join(place.path, 'migrations', dialect, `0003_t3.${way}.sql`))
    expect(await stateOf('0003_t3')).to.include({ state: 'dirty', isMissing: false })
    if (dialect === 'mysql')
      expect(await refusal('down')).to.deep.include({ kind: 'halfDone', version: '0003_t3', done: 1, of: 2 })
    else expect((await run('down')).stdout).to.match(/^rolled back 0003_t3\n/)
  })

  it('say that a version is migrated now, and by whom', async () => {
    ship({ ...tables(2), ...file('0003_a', 'SELECT 1;\nALTER TABLE t2 ADD n int', 'ALTER TABLE t2 DROP n') })
    await run('up', '--to', '2')
    await hold(database(), 't2')
    const files = join(place.path, 'migrations')
    const running = migrate({ url: database().url, files, lockTimeoutMs: 60_000 }).up()
    await untilRow(database(), waitingForLock(database(), 'ALTER TABLE'))
    const { stdout, stderr } = await run('plan')
    await database().rows('ROLLBACK')
    await running
    expect(stderr).to.match(
      /note: 0003_a is being migrated now, by another `ashlar migrate` .*: plan again when it has ended\n/,
    )
    expect(stdout).to.match(
      dialect === 'mysql' ? /statement 1 is done by the run that works on it now\n/ : /^0003_a\n/,
    )
    expect(stdout).to.not.include('an earlier run')
  })

  if (dialect === 'mysql')
    it('ask before a version is forgotten of which statements are done', async () => {
      ship(file('0002_x', 'CREATE TABLE x (id bigint);\nCREATE TABLE y (id bigint);\nnonsense', '-- no'))
      await run('up')
      expect((await run('resolve', '--rolled-back', '2')).stderr).to.match(
        /nothing of it may be left\. Statements 1 to 2 are recorded as done: undo them by hand before\.\n$/,
      )
    })

  it('show an edit before it is accepted', async () => {
    ship(tables(2))
    await run('up')
    expect((await run('repair')).stdout).to.equal('nothing to do: no applied file was edited\n')
    ship({ '0002_t2.up.sql': '-- a remark\u001b[31m\nCREATE TABLE t2 (id bigint PRIMARY KEY)' })
    const refused = await run('repair')
    expect(refused.exit).to.equal(2)
    expect(refused.stdout).to.equal('0002_t2.up.sql, from line 1:\n+ -- a remark\uFFFD[31m\n')
    expect((await run('status', '--check')).exit).to.equal(1)
    expect((await run('repair', '--yes')).stdout).to.match(
      /recorded the file of 0002_t2 as what was applied: nothing of it was run\n$/,
    )
    expect((await run('status', '--check')).exit).to.equal(0)
  })

  it('check the files in one command', async () => {
    await run('diff', 'tasks', '--entities', BEFORE)
    const good = await run('check', '--entities', BEFORE)
    expect([good.exit, good.stdout, good.stderr]).to.deep.equal([
      0,
      'lint: nothing found\nevery version goes up, down and up again\nthe files make what the entities need\n',
      saidOf(database()).replace(
        /^(Database .* on (\S+?)(?:, schema public)?)\n$/,
        `Checks the files of migrations for ${dialect} in scratch databases on $2, which are dropped afterwards. $1: not changed\n`,
      ),
    ])
    const behind = await run('check', '--entities', AFTER)
    expect(behind.exit).to.equal(1)
    expect(behind.stdout)
      .to.match(/missing: no version makes this yet: ALTER TABLE/)
      .and.match(/\nNext: ashlar migrate diff NAME --entities \S+after\.js\n$/)
    await run('diff', 'next', '--entities', AFTER)
    const expanded = await run('check', '--entities', AFTER)
    expect(expanded.exit).to.equal(0)
    expect(expanded.stdout).to.match(
      /\nthe files make what the entities need; what is left for the contract is noted, and no fault\n$/,
    )
    expect(expanded.stderr).to.match(
      /note: left for the contract, once no process with older code runs: tasks\.colour/,
    )
    await run('diff', 'end', '--entities', AFTER, '--contract')
    const after = await run('check', '--entities', AFTER)
    const untried = `up again, but for ${dialect === 'postgres' ? '0006' : '0007'}_next_fill_tasks: its way down has no statement, and is not tried`
    expect([after.exit, after.stdout]).to.deep.equal([0, good.stdout.replace('up again', untried)])
    expect(await database().tables()).to.not.include('tasks')
  })

  it('find a way down that leaves something, or does not run', async () => {
    ship({
      ...tables(2),
      ...file('0003_c', 'ALTER TABLE t2 ADD COLUMN c bigint', '-- stays: nobody minds'),
      ...file('0004_d', 'ALTER TABLE t2 ADD COLUMN d bigint', 'SELECT 1'),
    })
    const left = await run('check')
    expect(left.exit).to.equal(1)
    expect(left.stdout)
      .to.match(/0004_d\.down\.sql leaves column .*d/)
      .and.not.include('0003_c')
    ship(
      file(
        '0003_c',
        'ALTER TABLE t2 ADD COLUMN c bigint',
        'ALTER TABLE t2 DROP COLUMN c, ADD COLUMN e bigint',
      ),
    )
    const leaves = await run('check')
    expect(leaves.stdout).to.match(/0003_c\.down\.sql leaves column .*e/)
    ship(
      file(
        '0003_c',
        'CREATE INDEX i ON t2 (id)',
        dialect === 'postgres' ? 'DROP INDEX j' : 'DROP INDEX j ON t2',
      ),
    )
    expect((await run('check')).stdout).to.match(
      /0003_c goes up, but not down: 0003_c\.down\.sql, statement 1 of 1 /,
    )
  })

  it('find a file that does not run, or only once, and say which time it was', async () => {
    ship({ ...tables(2), ...file('0003_c', 'SELECT 1;\nSELECT nonsense', '-- nothing') })
    const never = await run('check', '--entities', BEFORE)
    expect(never.exit).to.equal(1)
    expect(never.stdout).to.match(
      /\n0003_c does not go up: 0003_c\.up\.sql, statement 2 of 2 \(line 2\): [^.]*nonsense[^.]*\nthe entities are not compared, because the files do not all go up\n$/,
    )
    expect(never.stderr).to.match(/^Checks the files .*: not changed\n$/)
    ship(
      file(
        '0003_c',
        'CREATE TABLE c (id bigint PRIMARY KEY)',
        // It leaves the table, and the check of what is there says so before.
        'CREATE TABLE d (id bigint PRIMARY KEY)',
      ),
    )
    const twice = await run('check')
    expect(twice.exit).to.equal(1)
    expect(twice.stdout)
      .to.match(/0003_c\.down\.sql leaves column .*c/)
      .and.match(/\n0003_c goes up and down, but not up a second time: 0003_c\.up\.sql, statement 1 of 1 /)
  })

  it('lint what fails on an empty copy, and say where no copy may be made', async () => {
    ship({ ...tables(2), ...file('0003_c', 'SELECT 1;\nSELECT nonsense', '-- nothing') })
    const folder = `migrations/${dialect}`
    const failed = await run('lint')
    expect(failed.exit).to.equal(1)
    expect(failed.stdout).to.match(
      new RegExp(`^${folder}/0003_c\\.up\\.sql:2: refuse: .*nonsense.* \\[fails-on-empty\\]\n`),
    )
    type Found = Partial<{ rule: string; level: string; problem: { kind: string }; why: { kind: string } }>
    const found = (text: string) => JSON.parse(text) as readonly Found[]
    const [one] = found((await run('lint', '--json')).stdout)
    expect([one?.rule, one?.problem?.kind]).to.deep.equal(['fails-on-empty', 'statementFailed'])
    ship(file('0003_c', 'SELECT 1', '-- nothing'))
    const good = await run('lint', '--strict')
    expect([good.exit, good.stdout]).to.deep.equal([0, 'lint: nothing found\n'])
    expect(await database().tables()).to.not.include('t2')
    const user = await limitedUser(database(), dialect === 'postgres' ? [] : ['GRANT SELECT ON * TO USER'])
    const limited = { cwd: place.path, env: { ASHLAR_DATABASE_URL: user.url } }
    try {
      const denied = await runCommand(['migrate', 'lint'], limited)
      expect([denied.exit, denied.stdout]).to.deep.equal([0, 'lint: nothing found\n'])
      expect(denied.stderr).to.include(`note: ${folder}: not applied to an empty copy: `)
      const told = found((await runCommand(['migrate', 'lint', '--json'], limited)).stdout)
      expect(told.map(({ level, why }) => [level, why?.kind])).to.deep.equal([['note', 'noDatabase']])
      expect((await runCommand(['migrate', 'lint', '--strict'], limited)).exit).to.equal(1)
    } finally {
      await user.drop()
    }
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    const elsewhere = { cwd: place.path, env: { ASHLAR_DATABASE_URL: `${other}://nobody@localhost/none` } }
    const [told] = found((await runCommand(['migrate', 'lint', '--json'], elsewhere)).stdout)
    expect(told?.why?.kind).to.equal('otherEngine')
  })

  it('say that there is no version to check, and try none that lint refuses', async () => {
    mkdirSync(join(place.path, 'migrations', dialect), { recursive: true })
    const none = await run('check')
    expect([none.exit, none.stdout]).to.deep.equal([
      0,
      `no version to check: migrations/${dialect} has no .sql file\n`,
    ])
    ship({ '0002_a.up.sql': 'SELECT 1' })
    const refused = await run('check')
    expect(refused.exit).to.equal(1)
    expect(refused.stdout).to.match(
      /0002_a\.down\.sql:1: refuse: [^]*no version is tried and nothing is compared, because lint refuses a file\n$/,
    )
  })
})
