import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file, onEachEngine, saidOf, tables } from '../../migrations/each-engine.js'
import { compiled } from '../../support/root.js'
import { runCommand } from '../../support/run-command.js'

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
    const { exit, stdout } = await run('0003_c', '0004_c')
    expect(exit).to.equal(0)
    expect(stdout).to.equal(
      'renumbered migrations/postgres/0003_c to 0004_c\nrenumbered migrations/postgres/0004_c to 0005_c\n',
    )
    expect(versions('postgres')).to.deep.equal(['0002_a', '0003_b', '0004_c', '0005_c', '9001_x'])
    expect(versions('mysql')).to.deep.equal(['0002_a', '0003_c'])
    expect((await run('0005_c')).stdout).to.equal('nothing to do: they have the last numbers already\n')
  })

  for (const name of ['0001_framework_init', '8001_outbox_log', '9001_x', 'c', '../0003_c', '0009_none'])
    it(`refuses ${name}, and renames nothing`, async () => {
      ship('postgres', '0002_a', '0003_b', '0003_c', '9001_x')
      const { exit, stdout } = await run('0003_c', name)
      expect([exit, stdout]).to.deep.equal([2, ''])
      expect(versions('postgres')).to.deep.equal(['0002_a', '0003_b', '0003_c', '9001_x'])
    })
})

onEachEngine('the commands of an operator', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-operator-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const run = (...args: readonly string[]) =>
    runCommand(['migrate', ...args], {
      cwd: folder,
      env: { ASHLAR_DATABASE_URL: database().url },
    })
  const ship = (files: Readonly<Record<string, string>>) => {
    mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, 'migrations', dialect, name), text)
  }

  it('go up to a version, and down by one once it is confirmed what is lost', async () => {
    ship(tables(2, 3))
    expect((await run('up', '--to', '2')).stdout).to.equal('applied 0002_t2\n')
    expect((await run('up', '--to', '2')).stdout).to.equal(
      'nothing to do: the schema has every version up to 2\n',
    )
    expect((await run('up', '--to', '4')).stderr).to.include(
      '0004 is not a version of these files: they have 0001 to 0003 and 8001',
    )
    await run('up')
    const refused = await run('down')
    expect([refused.exit, refused.stdout]).to.deep.equal([2, ''])
    expect(refused.stderr).to.include('0003_t3 loses table t3 (')
    expect((await run('down', '--yes')).stdout).to.equal('rolled back 0003_t3\n')
    expect((await run('redo')).exit).to.equal(2)
    expect((await run('redo', '--yes')).stdout).to.equal('rolled back 0002_t2\napplied 0002_t2\n')
  })

  it('ask nothing about a version that failed and left nothing, and name the size of what is lost', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    await run('up')
    const gone = await run('down')
    expect([gone.exit, gone.stdout]).to.deep.equal([0, 'rolled back 0003_t3\n'])
    expect(gone.stderr).to.include('recovering 0003_t3: it failed and left nothing behind: nothing is run')
    await database().rows('INSERT INTO t2 VALUES (1), (2)')
    await database().rows(dialect === 'postgres' ? 'ANALYZE t2' : 'ANALYZE TABLE t2')
    expect((await run('down')).stderr).to.match(/0002_t2 loses table t2 \(about 2 rows, \d+ KiB\)\. What is/)
    expect((await run('down', '--to', '0')).stderr).to.match(
      /own tables, with what is in them\. 0002_t2 loses table t2 \([^;]*gone for good\. Say --yes/,
    )
  })

  it('ask nothing where nothing is lost', async () => {
    ship(file('0002_v', 'CREATE VIEW v AS SELECT 1 AS one', 'DROP VIEW v'))
    await run('up')
    expect((await run('redo')).stdout).to.equal('rolled back 0002_v\napplied 0002_v\n')
    expect((await run('down')).stdout).to.equal('rolled back 0002_v\n')
    expect((await run('down')).stdout).to.equal('nothing to do: no version is above that\n')
    expect((await run('redo')).stdout).to.equal('nothing to do: no version of the module is applied\n')
  })

  it('record a baseline, and what was put right by hand', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    expect((await run('baseline', '--to', '2')).stdout).to.equal('recorded 0002_t2\n')
    expect((await run('up')).exit).to.equal(6)
    expect((await run('resolve')).stderr).to.include(
      'say either --applied <version> or --rolled-back <version>',
    )
    const asked = await run('resolve', '--applied', '3')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.match(/none of its statements runs: each of them was done by hand. Say --yes/)
    expect((await run('resolve', '--rolled-back', '3', '--yes')).stdout).to.equal(
      'recorded 0003 as not applied\n',
    )
    expect((await run('resolve', '--applied', '3', '--yes')).stdout).to.equal('recorded 0003 as applied\n')
    expect((await run('up')).stdout).to.equal('nothing to do: the schema is current\n')
    expect((await run('baseline', '--to', '2')).exit).to.equal(6)
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
    expect((await run('repair', '--yes')).stdout).to.match(/recorded 0002_t2\n$/)
    expect((await run('status', '--check')).exit).to.equal(0)
  })

  it('check the files in one command', async () => {
    await run('diff', 'tasks', '--entities', BEFORE)
    const good = await run('check', '--entities', BEFORE)
    expect([good.exit, good.stdout, good.stderr]).to.deep.equal([
      0,
      'nothing to say against these files\nevery version goes up, down and up again\nthe files make what the entities say\n',
      saidOf(database()),
    ])
    const behind = await run('check', '--entities', AFTER)
    expect(behind.exit).to.equal(1)
    expect(behind.stdout).to.match(/missing a version that does: add_to_tasks/)
    expect(behind.stderr).to.match(/note: left for the contract: tasks\.colour/)
    await run('diff', 'next', '--entities', AFTER)
    await run('diff', 'end', '--entities', AFTER, '--contract')
    const after = await run('check', '--entities', AFTER)
    expect([after.exit, after.stdout]).to.deep.equal([0, good.stdout])
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
    expect((await run('check')).stdout).to.match(/0003_c\.down\.sql, statement 1 of 1 /)
  })
})
