import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkHeading } from '../../../cli/migrate/headings.js'
import type { FolderFinding } from '../../../cli/migrate/lint-folder.js'
import {
  migrate,
  type PlannedVersion,
  type TableDifference,
  type TriedDown,
} from '../../../lib/migrations/index.js'
import { file, onEachEngine, saidOf, tables } from '../../migrations/each-engine.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { hold, untilRow, waitingForLock } from '../../migrations/fresh-database.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { versionState } from '../../support/projects/version-state.js'
import { compiled } from '../../support/root.js'
import { jsonOf, runCommand } from '../../support/run-command.js'

/** What `check --json` prints. */
interface Checked extends Readonly<Record<'downs' | 'missing' | 'byHand', readonly string[]>> {
  readonly findings: readonly FolderFinding[]
  readonly details: { readonly downs: readonly TriedDown[]; readonly left: readonly TableDifference[] }
}

const BEFORE = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'before.js')
const AFTER = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'after.js')

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
    const ran = await run('0003_c', '0004_c', '--json')
    expect(ran.exit).to.equal(0)
    expect(ran.stderr).to.match(/^note: .* 0004_c, 0005_c .*\nnote: .*\bashlar migrate down --to 2\b.*\n$/)
    const moved = { folder: 'migrations/postgres', overtaken: [] }
    expect(jsonOf(ran)).to.deep.equal([
      { ...moved, from: '0003_c', to: '0004_c' },
      { ...moved, from: '0004_c', to: '0005_c' },
    ])
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_b', '0004_c', '0005_c', '9001_x'])
    expect(versions('mysql')).to.deep.equal(['0002_a', '0003_c'])
    expect(await run('0005_c', '--json')).to.include({ stdout: '[]\n', stderr: '' })
  })

  it('says which versions run before the others now, where not all of a branch were named', async () => {
    ship('postgres', '0002_a', '0003_size', '0003_labels', '0004_fill')
    const lint = await runCommand(['migrate', 'lint', '--json'], { cwd: folder })
    const { problems } = jsonOf<{ error: { problems: readonly object[] } }>(lint).error
    expect(problems).to.have.length(1)
    expect(problems[0]).to.deep.include({
      kind: 'duplicateNumber',
      versions: ['0003_labels', '0003_size'],
      behind: ['0004_fill'],
    })
    const first = await run('0003_size', '--json')
    expect(jsonOf(first)).to.have.deep.nested.property('[0].overtaken', ['0004_fill'])
    expect(first.stderr).to.include('ashlar migrate renumber 0005_size 0004_fill')
    expect((await run('0005_size', '0004_fill')).stderr).not.to.include('ashlar migrate renumber')
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
    expect(exit).to.equal(2)
    expect(stderr).to.match(/^ashlar: .*\bnosuch\b/)
  })

  it('refuses to leave a gap, in each engine before it renames anything', async () => {
    ship('mysql', '0002_a', '0003_b')
    ship('postgres', '0002_a', '0003_b', '0004_c')
    const { exit, stderr } = await run('0003_b')
    expect(exit).to.equal(2)
    expect(stderr).to.match(/^ashlar: .* migrations\/postgres .* 0003_b\b.*\(0004_c\)\n$/)
    expect(versions('mysql')).to.deep.equal(['0002_a', '0003_b'])
    expect((await run('0004_c', '0003_b')).exit).to.equal(0)
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_c', '0004_b'])
  })
})

onEachEngine('the commands of an operator', (database, dialect) => {
  const place = operatorFolder(database)
  const { run, json, refusal } = place
  const stateOf = (name: string, ...args: readonly string[]) => versionState(run, name, ...args)
  const ship = (files: Readonly<Record<string, string>>) => place.ship(files, `migrations/${dialect}`)

  it('go up to a version, and down by one once it is confirmed what is lost', async () => {
    ship(tables(2, 3))
    expect(await json('up', '--to', '2')).to.deep.include({ applied: ['0002_t2'] })
    expect(await json('up', '--to', '2')).to.deep.include({ applied: [], ahead: [] })
    const unknown = { kind: 'unknownVersion', number: 4, known: [1, 2, 3, 8001] }
    expect(await refusal('up', '--to', '4')).to.deep.include(unknown)
    await run('up')
    const refused = await run('down')
    expect([refused.exit, refused.stdout]).to.deep.equal([2, ''])
    expect(refused.stderr).to.match(/ 0003_t3 .* table t3 \(/)
    expect(await json('down', '--yes')).to.deep.include({ rolledBack: ['0003_t3'] })
    expect((await run('redo')).exit).to.equal(2)
    expect(await json('redo', '--yes')).to.deep.include({ rolledBack: ['0002_t2'], applied: ['0002_t2'] })
  })

  for (const given of ['00x3', 'abc', '', '-1', '10000', '0003_t3'])
    it(`say what --to expects in place of ${JSON.stringify(given)}`, async () => {
      for (const verb of ['up', 'down']) {
        const { exit, stderr } = await run(verb, `--to=${given}`)
        expect(exit).to.equal(2)
        expect(stderr)
          .to.include('ashlar: --to ')
          .and.include(`from ${verb === 'up' ? 1 : 0} to 9999`)
        expect(stderr).to.include(`“${given}”`)
      }
    })

  it('say what a flag with a number expects', async () => {
    for (const given of ['long', '0']) {
      const { exit, stderr } = await run('up', '--lock-timeout', given)
      expect(exit).to.equal(2)
      expect(stderr).to.match(new RegExp(`^ashlar: --lock-timeout .*\\b${given}\\b`))
    }
  })

  it('say what to do next, where something is left', async () => {
    ship(tables(2, 3))
    const next = /\bashlar migrate up\b.* 0003_t3\n$/
    expect((await run('up', '--to', '2')).stdout).to.match(next)
    expect((await run('up')).stdout).to.not.include('ashlar migrate')
    expect((await run('redo', '--yes')).stdout).to.not.include('ashlar migrate')
    expect((await run('down', '--yes')).stdout).to.match(/ 0003_t3\n0003_t3 .*\bashlar migrate up\b.*\n$/)
    expect((await run('redo', '--yes')).stdout).to.match(next)
    ship({ '0002_t2.up.sql': 'CREATE TABLE t2 (id bigint NOT NULL PRIMARY KEY)' })
    expect((await run('repair', '--yes')).stdout).to.match(next)
    const resolved = await run('resolve', '--applied', '3', '--yes')
    expect(resolved.stdout.match(/\bashlar migrate \w+/g)).to.deep.equal(['ashlar migrate verify'])
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
    const filled = [{ version: '0003_fill', rows: 3, earlier: 0 }]
    expect(await json('up')).to.deep.include({ applied: ['0003_fill'], filled })
    const redone = await run('redo', '--json')
    expect(redone.stderr).to.match(/^note: 0003_fill\b/m)
    expect(jsonOf(redone)).to.deep.include({ filled })
  })

  it('say before and after a roll back which values do not come back', async () => {
    ship({
      ...file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY, n bigint)', 'DROP TABLE t2'),
      ...file('0003_end', 'ALTER TABLE t2 DROP COLUMN n', 'ALTER TABLE t2 ADD COLUMN n bigint'),
    })
    await run('up')
    const { exit, stdout, stderr } = await run('down')
    const said = /\b0003_end .*\bcolumn n of t2\b.*\n/
    expect(exit).to.equal(0)
    expect(stdout).to.match(new RegExp(`^.* 0003_end\n${said.source}0003_end .*\n$`))
    expect(stderr).to.match(new RegExp(`note: ${said.source}.* 0003_end\\b`))
    await run('up')
    const asked = await run('down', '--to', '1')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.match(new RegExp(`note: ${said.source}ashlar: .* 0002_t2 .*\\btable t2\\b`))
  })

  it('say after a roll back without a statement that everything stays, and what that means', async () => {
    ship(file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY)', '-- nobody wants it undone'))
    await run('up')
    expect((await run('down')).stdout).to.match(
      /^.* 0002_t2\n0002_t2 .*\bashlar migrate resolve --applied 2\b.*\n0002_t2 .*\bashlar migrate up\b.*\n$/,
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
    const [version] = await json<readonly PlannedVersion[]>('plan')
    const [drop, add] = version?.statements ?? []
    expect(drop?.loses).to.have.length(1)
    expect(drop?.loses[0]).to.deep.include({ what: 'column', name: 'n', table: 't2' })
    expect(drop?.breaks).to.include({ kind: 'rule', rule: 'ban-drop-column' })
    expect([add?.loses, add?.breaks]).to.deep.equal([[], undefined])
    const { exit, stdout } = await run('plan')
    expect(exit).to.equal(0)
    expect(stdout.match(/--lock-timeout/g)).to.have.length(1)
    ship({ '0002_t2.up.sql': 'CREATE TABLE t2 (id int)' })
    expect(await refusal('plan')).to.deep.include({ exit: 6, kind: 'edited' })
  })

  it('ask nothing about a version that failed and left nothing, and name the size of what is lost', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    await run('up')
    const gone = await run('down', '--json')
    expect(gone.exit).to.equal(0)
    expect(jsonOf(gone)).to.deep.include({ rolledBack: ['0003_t3'] })
    await database().rows('INSERT INTO t2 VALUES (1), (2)')
    await database().rows(dialect === 'postgres' ? 'ANALYZE t2' : 'ANALYZE TABLE t2')
    const asked = new RegExp(`ashlar: .* ${database().name} .*`)
    expect((await run('down')).stderr)
      .to.match(asked)
      .and.match(/ 0002_t2\. .* 0002_t2 .* table t2 \(.*\b2 rows, \d+ KiB\)\.\n$/)
    expect((await run('down', '--to', '0')).stderr)
      .to.match(asked)
      .and.match(/ 0002_t2,? .*\([^.]*, outbox\)\. .* 0002_t2 .* table t2 /)
  })

  it('ask nothing where nothing is lost', async () => {
    ship(file('0002_v', 'CREATE VIEW v AS SELECT 1 AS one', 'DROP VIEW v'))
    await run('up')
    expect(await json('redo')).to.deep.include({ rolledBack: ['0002_v'], applied: ['0002_v'] })
    expect(await json('down')).to.deep.include({ rolledBack: ['0002_v'] })
    expect(await json('down')).to.deep.include({ rolledBack: [] })
    expect((await run('down')).stdout).to.include('--to 0')
    expect(await json('redo')).to.deep.include({ rolledBack: [], applied: [] })
    expect((await run('redo')).stdout).to.match(/\bashlar migrate up\b.* 0002_v\n$/)
  })

  it('carry the files, and on PostgreSQL the module, in the commands that they name', async () => {
    ship(file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY)', '-- nobody wants it undone'))
    const kept = ['--files', `migrations/${dialect}`, ...(dialect === 'postgres' ? ['--module', 'inv'] : [])]
    const said = kept.join(' ')
    expect((await run('status', ...kept)).stdout).to.include(`ashlar migrate up ${said} `)
    expect((await run('verify', ...kept)).stdout).to.include(`ashlar migrate up ${said}\n`)
    await run('up', ...kept)
    expect((await run('down', ...kept)).stdout)
      .to.include(`ashlar migrate resolve ${said} --applied 2 `)
      .and.include(`ashlar migrate up ${said}, `)
  })

  it('name no next command that would refuse, and refuse before they ask or roll back', async () => {
    ship(tables(2, 3, 4))
    await run('up')
    const edit = 'CREATE TABLE t2 (id bigint NOT NULL PRIMARY KEY)'
    ship({ '0002_t2.up.sql': edit })
    for (const args of [['redo', '--yes'], ['redo']])
      expect(await refusal(...args)).to.deep.include({ exit: 6, kind: 'edited', hasChanged: undefined })
    expect((await run('down', '--yes')).stdout).to.match(/^.* 0004_t4\n$/)
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
    expect(await refusal('up')).to.include({ kind: 'statementFailed', isThere: true })
    expect((await run('up')).stderr).to.include('ashlar migrate resolve --applied 2 ')
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
    const line = /\n0004_b .*\bashlar migrate down\b/
    expect((await run('down')).stdout).to.match(line)
    await run('up')
    expect((await run('down', '--to', '2')).stdout).not.to.match(line)
  })

  it('record a baseline, and what was put right by hand', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    const baseline = await run('baseline', '--to', '2', '--json')
    expect(baseline.stderr).to.match(/^note: .*\bashlar_migrations\b/m)
    expect(jsonOf(baseline)).to.deep.include({ applied: [], recorded: ['0002_t2'] })
    expect(await stateOf('0002_t2')).to.include({ state: 'applied', isRecorded: true })
    expect((await run('up')).exit).to.equal(6)
    const neither = await run('resolve')
    expect(neither.exit).to.equal(2)
    expect(neither.stderr).to.match(/--applied <migration> .*--rolled-back <migration>/)
    const asked = await run('resolve', '--applied', '3')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.match(new RegExp(`ashlar: .* ${database().name} .* 0003_t3 `))
    expect(await json('resolve', '--rolled-back', '3', '--yes')).to.include({ version: 3, as: 'rolledBack' })
    expect(await stateOf('0003_t3')).to.include({ state: 'pending' })
    expect(await json('resolve', '--applied', '3', '--yes')).to.include({ version: 3, as: 'applied' })
    expect(await stateOf('0003_t3')).to.include({ state: 'applied', isRecorded: true })
    expect(await json('up')).to.deep.include({ applied: [] })
    expect((await run('baseline', '--to', '2')).exit).to.equal(6)
  })

  it('say of a rollback that stopped what up does first', async () => {
    const up = 'CREATE TABLE c1 (id bigint);\nCREATE TABLE c2 (id bigint)'
    ship(file('0002_c', up, 'DROP TABLE c1;\nINSERT INTO nowhere VALUES (1);\nDROP TABLE c2'))
    await run('up')
    await run('down', '--yes')
    const [planned, ...others] = await json<readonly PlannedVersion[]>('plan')
    expect(others).to.deep.equal([])
    if (dialect === 'postgres') {
      expect(planned).to.deep.include({ name: '0002_c', statements: [] })
      expect(planned?.rollBack).to.include({ staysApplied: true })
      const left = await stateOf('0002_c')
      expect(left).to.include({ state: 'dirty' }).and.have.property('appliedAt')
      expect(left?.unfinished).to.include({ direction: 'down', staysApplied: true })
      expect(left?.error).to.include('0002_c.down.sql')
      expect((await run('dry-run')).stdout).to.match(/ 0002_c .*\bashlar migrate status\b.*\n$/)
    } else {
      expect(planned?.rollBack).to.include({ staysApplied: false, done: 1, of: 3 })
      const [insert, drop] = planned?.rollBack?.statements ?? []
      expect(insert?.text).to.match(/^INSERT INTO nowhere /)
      expect(drop).to.include({ text: 'DROP TABLE c2' })
      expect(drop?.loses[0]).to.deep.include({ what: 'table', name: 'c2' })
      expect(planned?.statements.map(({ text }) => text.slice(0, 15))).to.deep.equal([
        ...['CREATE TABLE c1', 'CREATE TABLE c2'],
      ])
      expect((await run('dry-run')).stderr).to.match(/ 0002_c, .* 0002_c .*\n$/)
      expect((await run('resolve', '--rolled-back', '2')).stderr).to.match(/\b2 to 3 of 3\b.*\n$/)
    }
  })

  it('say of a version that failed what comes next, also where the files do not have it', async () => {
    const broken = 'CREATE TABLE t3 (id bigint);\nnonsense'
    ship({ ...tables(2), ...file('0003_t3', broken, 'DROP TABLE t3') })
    await run('up')
    expect((await run('plan')).stderr).to.match(/^note: 0003_t3 .*\bashlar migrate status\b/m)
    expect(await stateOf('0003_t3')).to.include({ state: 'dirty', isMissing: true })
    for (const way of ['up', 'down']) rmSync(join(place.path, 'migrations', dialect, `0003_t3.${way}.sql`))
    expect(await stateOf('0003_t3')).to.include({ state: 'dirty', isMissing: false })
    if (dialect === 'mysql')
      expect(await refusal('down')).to.deep.include({ kind: 'halfDone', version: '0003_t3', done: 1, of: 2 })
    else expect(await json('down')).to.deep.include({ rolledBack: ['0003_t3'] })
  })

  it('say that a version is migrated now, and by whom', async () => {
    ship({ ...tables(2), ...file('0003_a', 'SELECT 1;\nALTER TABLE t2 ADD n int', 'ALTER TABLE t2 DROP n') })
    await run('up', '--to', '2')
    await hold(database(), 't2')
    const files = join(place.path, 'migrations')
    const running = migrate({ url: database().url, files, lockTimeoutMs: 60_000 }).up()
    await untilRow(database(), waitingForLock(database(), 'ALTER TABLE'))
    const { stdout, stderr } = await run('plan', '--json')
    const state = await stateOf('0003_a')
    await database().rows('ROLLBACK')
    await running
    expect(stderr).to.match(/^note: 0003_a .* `ashlar migrate` /m)
    expect(jsonOf({ stdout })).to.have.nested.property('[0].done', dialect === 'mysql' ? 1 : 0)
    expect(state).to.include({ state: 'running' }).and.have.property('holder')
  })

  if (dialect === 'mysql')
    it('ask before a version is forgotten of which statements are done', async () => {
      ship(file('0002_x', 'CREATE TABLE x (id bigint);\nCREATE TABLE y (id bigint);\nnonsense', '-- no'))
      await run('up')
      expect((await run('resolve', '--rolled-back', '2')).stderr).to.match(/ 0002_x .*\b1 to 2\b/)
    })

  it('show an edit before it is accepted', async () => {
    ship(tables(2))
    await run('up')
    expect(await json('repair')).to.deep.include({ repaired: [] })
    ship({ '0002_t2.up.sql': '-- a remark\u001b[31m\nCREATE TABLE t2 (id bigint PRIMARY KEY)' })
    const refused = await run('repair')
    expect(refused.exit).to.equal(2)
    expect(refused.stdout).to.match(/^0002_t2\.up\.sql, [^\n]*\n\+ -- a remark\uFFFD\[31m\n$/)
    expect((await run('status', '--check')).exit).to.equal(1)
    expect(await json('repair', '--yes')).to.deep.include({ repaired: ['0002_t2'] })
    expect((await run('status', '--check')).exit).to.equal(0)
  })

  it('check the files in one command', async () => {
    await run('diff', 'tasks', '--entities', BEFORE)
    const heading = saidOf(database(), await checkHeading({ files: 'migrations' }))
    const nothing = { findings: [], downs: [], untried: [], missing: [], left: [], byHand: [] }
    const good = await run('check', '--entities', BEFORE, '--json')
    expect([good.exit, good.stderr]).to.deep.equal([0, heading])
    expect(jsonOf(good)).to.deep.include(nothing)
    const behind = await run('check', '--entities', AFTER)
    expect(behind.exit).to.equal(1)
    expect(behind.stdout)
      .to.match(/: ALTER TABLE/)
      .and.match(/\bashlar migrate diff NAME --entities \S+after\.js\n$/)
    await run('diff', 'next', '--entities', AFTER)
    const expanded = await run('check', '--entities', AFTER, '--json')
    expect(expanded.exit).to.equal(0)
    const { missing, byHand, details } = jsonOf<Checked>(expanded)
    expect([missing, byHand]).to.deep.equal([[], []])
    expect(details.left.map(({ kind, column }) => [kind, column])).to.deep.include(['extraColumn', 'colour'])
    expect(expanded.stderr).to.match(/^note: .*\btasks\.colour\b/m)
    await run('diff', 'end', '--entities', AFTER, '--contract')
    const after = await run('check', '--entities', AFTER, '--json')
    expect(after.exit).to.equal(0)
    const untried = [`${dialect === 'postgres' ? '0006' : '0007'}_next_fill_tasks`]
    expect(jsonOf(after)).to.deep.include({ ...nothing, untried })
    expect(await database().tables()).to.not.include('tasks')
  })

  it('wait for locks in a scratch database as long as a statement may run', async () => {
    const seconds =
      dialect === 'mysql'
        ? '@@lock_wait_timeout'
        : "extract(epoch FROM current_setting('lock_timeout')::interval)"
    const fill = `INSERT INTO t2 SELECT CASE WHEN ${seconds} = 60 THEN 1 END`
    ship({ ...tables(2), ...file('0003_fill', fill, 'DELETE FROM t2') })
    const checked = await run('check')
    expect(checked, checked.said).to.include({ exit: 0 })
  })

  it('find a down migration that leaves something, or does not run', async () => {
    ship({
      ...tables(2),
      ...file('0003_c', 'ALTER TABLE t2 ADD COLUMN c bigint', '-- stays: nobody minds'),
      ...file('0004_d', 'ALTER TABLE t2 ADD COLUMN d bigint', 'SELECT 1'),
    })
    const downs = async () => (await json<Checked>('check')).details.downs
    expect((await run('check')).exit).to.equal(1)
    const [left, ...others] = await downs()
    expect(others.filter(({ version }) => version !== '0004_d')).to.deep.equal([])
    expect(left).to.include({ kind: 'differs', version: '0004_d', step: 'down', effect: 'leaves' })
    expect(left)
      .to.have.property('object')
      .that.matches(/^column .*d/)
    ship(
      file(
        '0003_c',
        'ALTER TABLE t2 ADD COLUMN c bigint',
        'ALTER TABLE t2 DROP COLUMN c, ADD COLUMN e bigint',
      ),
    )
    const [leaves] = await downs()
    expect(leaves).to.include({ kind: 'differs', version: '0003_c', step: 'down', effect: 'leaves' })
    expect(leaves)
      .to.have.property('object')
      .that.matches(/^column .*e/)
    ship(
      file(
        '0003_c',
        'CREATE INDEX i ON t2 (id)',
        dialect === 'postgres' ? 'DROP INDEX j' : 'DROP INDEX j ON t2',
      ),
    )
    const [fails] = await downs()
    expect(fails).to.include({ kind: 'fails', version: '0003_c', step: 'down' })
    expect(fails).to.have.nested.property('problem.file', '0003_c.down.sql')
  })

  it('find a file that does not run, or only once, and say which time it was', async () => {
    ship({ ...tables(2), ...file('0003_c', 'SELECT 1;\nSELECT nonsense', '-- nothing') })
    const never = await run('check', '--entities', BEFORE, '--json')
    expect([never.exit, never.stderr]).to.deep.equal([
      1,
      saidOf(database(), await checkHeading({ files: 'migrations' })),
    ])
    const { downs, missing, details } = jsonOf<Checked>(never)
    expect([downs.length, missing]).to.deep.equal([1, []])
    expect(details.downs[0]).to.have.deep.nested.include({
      ...{ kind: 'fails', version: '0003_c', step: 'up', 'problem.file': '0003_c.up.sql' },
      'problem.place': { statement: 2, of: 2, line: 2 },
    })
    ship(
      file(
        '0003_c',
        'CREATE TABLE c (id bigint PRIMARY KEY)',
        // It leaves the table, and the check of what is there says so before.
        'CREATE TABLE d (id bigint PRIMARY KEY)',
      ),
    )
    const twice = await run('check', '--json')
    expect(twice.exit).to.equal(1)
    const found = jsonOf<Checked>(twice).details.downs
    expect(found.map(({ kind, step, version }) => [kind, step, version])).to.deep.include.members([
      ['differs', 'down', '0003_c'],
      ['fails', 'again', '0003_c'],
    ])
  })

  it('lint what fails on an empty copy, and say where no copy may be made', async () => {
    ship({ ...tables(2), ...file('0003_c', 'SELECT 1;\nSELECT nonsense', '-- nothing') })
    const folder = `migrations/${dialect}`
    const failed = await run('lint')
    expect(failed.exit).to.equal(1)
    expect(failed.stdout).to.match(
      new RegExp(`^${folder}/0003_c\\.up\\.sql:2: .*nonsense.* \\[fails-on-empty\\]\n`),
    )
    type Found = Partial<{ rule: string; level: string; problem: { kind: string }; why: { kind: string } }>
    const found = (text: string) => JSON.parse(text) as readonly Found[]
    const [one] = found((await run('lint', '--json')).stdout)
    expect([one?.rule, one?.problem?.kind]).to.deep.equal(['fails-on-empty', 'statementFailed'])
    ship(file('0003_c', 'SELECT 1', '-- nothing'))
    const good = await run('lint', '--strict', '--json')
    expect([good.exit, good.stdout]).to.deep.equal([0, '[]\n'])
    expect(await database().tables()).to.not.include('t2')
    const user = await limitedUser(database(), dialect === 'postgres' ? [] : ['GRANT SELECT ON * TO USER'])
    const limited = { cwd: place.path, env: { ASHLAR_DATABASE_URL: user.url } }
    try {
      const denied = await runCommand(['migrate', 'lint'], limited)
      expect(denied.exit).to.equal(0)
      expect(denied.stderr).to.include(`note: ${folder}: `)
      const reported = found((await runCommand(['migrate', 'lint', '--json'], limited)).stdout)
      expect(reported.map(({ level, why }) => [level, why?.kind])).to.deep.equal([['note', 'noDatabase']])
      expect((await runCommand(['migrate', 'lint', '--strict'], limited)).exit).to.equal(1)
    } finally {
      await user.drop()
    }
    const other = dialect === 'postgres' ? 'mysql' : 'postgres'
    const elsewhere = { cwd: place.path, env: { ASHLAR_DATABASE_URL: `${other}://nobody@localhost/none` } }
    const [reported] = found((await runCommand(['migrate', 'lint', '--json'], elsewhere)).stdout)
    expect(reported?.why?.kind).to.equal('otherEngine')
  })

  it('say that there is no version to check, and try none that lint refuses', async () => {
    mkdirSync(join(place.path, 'migrations', dialect), { recursive: true })
    const none = await run('check')
    expect(none.exit).to.equal(0)
    expect(none.stdout).to.match(new RegExp(`^[^\n]*\\bmigrations/${dialect} [^\n]*\n$`))
    ship({ '0002_a.up.sql': 'SELECT 1' })
    const refused = await run('check', '--json')
    expect(refused.exit).to.equal(1)
    const { findings, downs } = jsonOf<Checked>(refused)
    expect(findings.map(({ file, line, level }) => [file, line, level])).to.deep.equal([
      [`migrations/${dialect}/0002_a.down.sql`, 1, 'refuse'],
    ])
    expect(downs).to.deep.equal([])
  })
})
