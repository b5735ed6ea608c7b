import { expect } from 'chai'
import { join } from 'node:path'
import type { Removed } from '../../../cli/migrate/views/verify-view.js'
import type { PlannedVersion, TriedVersion } from '../../../lib/migrations/index.js'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { versionState } from '../../support/projects/version-state.js'
import { compiled } from '../../support/root.js'

const AFTER = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'after.js')

onEachEngine('what ashlar migrate says to do next', (database, dialect) => {
  const place = operatorFolder(database)
  const { run, json, refusal } = place
  const plan = () => json<readonly PlannedVersion[]>('plan')
  const statements = async () => (await plan()).flatMap((version) => version.statements)
  const breaks = async () => (await statements()).flatMap((one) => one.breaks ?? [])
  const stateOf = (name: string, ...args: readonly string[]) => versionState(run, name, ...args)
  const ship = (files: Readonly<Record<string, string>>) => place.ship(files, `migrations/${dialect}`)

  it('plans that a default which is dropped breaks an INSERT without the column', async () => {
    ship({
      ...file('0002_t', "CREATE TABLE t (id bigint PRIMARY KEY, q varchar(9) DEFAULT '' NOT NULL)", ''),
      ...file('0003_q_end', 'ALTER TABLE t ALTER COLUMN q DROP DEFAULT', '-- no'),
    })
    await run('up', '--to', '2')
    const [broken, ...others] = await breaks()
    expect(others).to.deep.equal([])
    expect(broken).to.deep.include({ kind: 'inserts', withoutDefault: ['q'], isUnsure: false })
  })

  it('plans that a rule for rows breaks code that writes others, and no rule that there is', async () => {
    const required =
      dialect === 'postgres'
        ? 'ALTER COLUMN a SET NOT NULL'
        : 'MODIFY a int NOT NULL, ALGORITHM=INPLACE, LOCK=NONE'
    const longer = dialect === 'postgres' ? 'ALTER COLUMN b SET NOT NULL' : 'MODIFY b varchar(9) NOT NULL'
    ship({
      ...file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, a int, b varchar(5) NOT NULL)', ''),
      ...file('0003_a', `ALTER TABLE t ${required}`, '-- no'),
      ...file('0004_b', `ALTER TABLE t ${longer}`, '-- no'),
      ...file('0005_c', 'ALTER TABLE t ADD CONSTRAINT positive CHECK (a > 0)', '-- no'),
    })
    await run('up', '--to', '2')
    const inserts = { kind: 'inserts', withoutDefault: [], isUnsure: false }
    expect(await breaks()).to.deep.equal([
      { ...inserts, required: ['a'], hasCheck: false },
      { ...inserts, required: [], hasCheck: true },
    ])
  })

  it('says of a column that is gone although its version is applied that it was removed by hand', async () => {
    expect((await run('diff', 'tables', '--entities', AFTER)).exit).to.equal(0)
    await run('up')
    expect((await run('verify', '--entities', AFTER)).exit).to.equal(0)
    await database().rows('DROP TABLE IF EXISTS widgets, tasks')
    const { removed } = await json<{ removed: readonly Removed[] }>('verify', '--entities', AFTER)
    expect(removed.map(({ isRecorded, difference }) => [isRecorded, difference.kind])).to.deep.include([
      ...[false, 'noTable'],
    ])
    for (const { version } of removed) expect(version).to.include('_tables')
    const { exit, stdout } = await run('verify', '--entities', AFTER)
    expect(exit).to.equal(1)
    expect(stdout).to.match(/\bashlar migrate diff NAME --entities \S+ --live\b/)
    expect((await run('diff', 'again', '--entities', AFTER)).stdout).to.include('ashlar migrate verify ')
    const live = await run('diff', 'again', '--entities', AFTER, '--live')
    expect(live.exit).to.equal(1)
    expect(live.stdout).to.match(/\ntasks [^\n]*\n(.*\n)*CREATE TABLE /)
    ship(file('0003_wait', 'SELECT 1', '-- nothing'))
    const waits = await run('diff', 'again', '--entities', AFTER, '--live')
    expect(waits.stderr).to.match(/\bashlar migrate resolve --applied 3\n$/)
  })

  it('says of a table that only a recorded version makes that its file was not run', async () => {
    expect((await run('diff', 'tables', '--entities', AFTER)).exit).to.equal(0)
    expect((await run('resolve', '--applied', '2', '--yes')).exit).to.equal(0)
    const { removed } = await json<{ removed: readonly Removed[] }>('verify', '--entities', AFTER)
    const tasks = removed.find(({ difference }) => difference.table === 'tasks')
    expect(tasks).to.include({ version: '0002_tables', isRecorded: true })
  })

  it('asks nothing again of what is recorded, and names the version', async () => {
    ship(tables(2, 3))
    await run('up', '--to', '2')
    const again = await refusal('resolve', '--applied', '2', '--yes')
    expect(again).to.deep.include({ exit: 6, kind: 'appliedAlready', version: '0002_t2' })
    const redo = await run('redo')
    expect(redo.exit).to.equal(2)
    expect(redo.stderr).to.match(/ 0002_t2, .* 0003_t3 .* table t2 /)
  })

  it('says of a version that failed when that was, and whether its file was edited since', async () => {
    ship(file('0002_t', 'CREATE TABLE t (id nonsense)', 'DROP TABLE t'))
    await run('up')
    const failed = await stateOf('0002_t')
    expect(failed).to.include({ state: 'dirty' }).and.not.have.property('isEditedSince')
    expect(failed)
      .to.have.property('lastRunAt')
      .that.matches(/^\d{4}-\S+Z$/)
    ship(file('0002_t', 'CREATE TABLE t (id bigint, PRIMARY KEY (n))'))
    expect(await stateOf('0002_t')).to.include({ state: 'dirty', isEditedSince: true })
    await run('up')
    const again = await stateOf('0002_t')
    expect(again).to.include({ state: 'dirty' }).and.not.have.property('isEditedSince')
    expect(again).to.have.property('error').that.does.not.include('nonsense')
  })

  it('says that up applies nothing where lint refuses a file, and why', async () => {
    ship(file('0002_t', 'CREATE TABLE t (id bigint);\nDROP DATABASE shop', 'DROP TABLE t'))
    const status = await run('status', '--check')
    expect(status.exit).to.equal(1)
    const refused = await stateOf('0002_t')
    expect(refused).to.include({ state: 'pending' })
    expect(refused?.refusal).to.match(/^0002_t\.up\.sql:2: .* \(leaves-the-database\)$/)
    const { details } = await json<{ details: readonly object[] }>('verify', '--entities', AFTER)
    const pending = { kind: 'pending', version: '0002_t', refusal: refused?.refusal }
    expect(details).to.deep.include(pending)
    for (const verb of ['plan', 'up'])
      expect(await refusal(verb)).to.deep.include({ kind: 'refused', rule: 'leaves-the-database', line: 2 })
    ship(file('0002_t', 'CREATE TABLE t (id bigint)'))
    expect(await stateOf('0002_t'))
      .to.include({ state: 'pending' })
      .and.not.have.property('refusal')
  })

  it('names the rows of a backfill on a copy', async () => {
    ship({
      ...file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, n bigint)', 'DROP TABLE t'),
      ...file('0003_fill', '-- ashlar:backfill\nUPDATE t SET n = 1 WHERE id < 3', '-- they stay'),
    })
    await run('up', '--to', '2')
    await database().rows('INSERT INTO t (id) VALUES (1), (2), (3)')
    const [tried] = await json<readonly TriedVersion[]>('dry-run', '--yes')
    expect(tried).to.include({ name: '0003_fill', isApplied: true, filled: 2 })
  })

  it('does not advise to apply at once what breaks the code that runs, after a trial', async () => {
    ship(file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, a int, b int)', 'DROP TABLE t'))
    await run('up')
    const next = async () => (await run('dry-run', '--yes')).stdout.split('\n').at(-2)
    ship(file('0003_c', 'ALTER TABLE t ADD COLUMN c int', 'ALTER TABLE t DROP COLUMN c'))
    expect(await next())
      .to.include('ashlar migrate up')
      .and.not.include('ashlar migrate plan')
    ship({
      ...file('0004_d', 'ALTER TABLE t ADD COLUMN d int', 'ALTER TABLE t DROP COLUMN d'),
      ...file('0005_no_a', 'ALTER TABLE t DROP COLUMN a', 'ALTER TABLE t ADD COLUMN a int'),
    })
    expect(await next()).to.match(/\bashlar migrate plan,.* 0005_no_a .*\bashlar migrate up --to 4\b/)
    ship(file('0006_no_b', 'ALTER TABLE t DROP COLUMN b', 'ALTER TABLE t ADD COLUMN b int'))
    expect(await next()).to.match(/\bashlar migrate plan,.* 0006_no_b .*\bashlar migrate up (?!--to)/)
  })

  it('says in a plan what cannot be looked for yet, and for what a statement waits', async () => {
    ship(file('0002_t', 'CREATE TABLE t (id int PRIMARY KEY, n int)', 'DROP TABLE t'))
    await run('up')
    const required =
      dialect === 'postgres'
        ? 'ALTER TABLE t ALTER size SET NOT NULL'
        : 'ALTER TABLE t MODIFY size int NOT NULL'
    ship({
      ...file('0003_size', 'ALTER TABLE t ADD COLUMN size int', '-- no'),
      ...file('0004_size', required, '-- no'),
      ...file('0005_i', `CREATE INDEX ${dialect === 'postgres' ? 'CONCURRENTLY ' : ''}i ON t (n)`, '-- no'),
    })
    const [size, index] = (await plan()).slice(-2).map((version) => version.statements[0])
    expect(size).to.include({ failsAfter: '0003_size' })
    expect(size?.fails[0]).to.match(/^SELECT \* FROM .*t WHERE size IS NULL$/)
    expect(index?.waitsForOlder === true).to.equal(dialect === 'postgres')
  })

  it('says how far a backfill is that was killed, and how to give it up', async () => {
    ship({
      ...file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, n bigint, CHECK (n < 250))', 'DROP TABLE t'),
      ...file('0003_fill', '-- ashlar:backfill\nUPDATE t SET n = id', '-- they stay'),
    })
    await run('up', '--to', '2')
    await database().rows(
      `INSERT INTO t (id) VALUES ${Array.from({ length: 300 }, (_, at) => `(${at + 1})`).join(', ')}`,
    )
    await run('up')
    expect(await stateOf('0003_fill')).to.have.property('error')
    await database().rows('UPDATE ashlar_migrations SET error = NULL WHERE version = 3')
    const left = (await stateOf('0003_fill'))?.unfinished
    // The second chunk has 100 rows, or 200 if the first one took little time.
    const written = left?.written === 200 ? 200 : 100
    expect(left).to.include({ direction: 'up', done: 0, written })
    expect(left?.end).to.deep.equal([String(written)])
    expect(await json('down', '--yes')).to.deep.include({ rolledBack: ['0003_fill'] })
    expect(await stateOf('0003_fill')).to.include({ state: 'pending' })
  })

  if (dialect === 'mysql')
    it('asks before up finishes a rollback that loses values', async () => {
      const up = 'CREATE TABLE c1 (id bigint);\nCREATE TABLE c2 (id bigint)'
      ship(file('0002_c', up, 'DROP TABLE c1;\nDROP TABLE gone;\nDROP TABLE c2'))
      await run('up')
      expect((await run('down', '--yes')).stderr).to.include('ashlar migrate down')
      const [first] = await plan()
      expect(first?.rollBack).to.include({ done: 1, of: 3 })
      expect(first?.rollBack?.statements[0]?.tables).to.deep.include({ name: 'gone' })
      const asked = await run('up')
      expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
      expect(asked.stderr)
        .to.match(/ 0002_c, .* 0002_c .* table c2 \([^)]*\)\.\n$/)
        .and.not.include('gone (')
      expect(await database().rows("SHOW TABLES LIKE 'c2'")).to.have.length(1)
      await database().rows('CREATE TABLE gone (id bigint)')
      expect(await json('up', '--yes')).to.deep.include({ applied: ['0002_c'] })
    })
})
