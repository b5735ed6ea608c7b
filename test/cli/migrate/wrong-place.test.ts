import { expect } from 'chai'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { versionState } from '../../support/projects/version-state.js'

onEachEngine('the commands of ashlar migrate in the wrong place', (database, dialect) => {
  const place = operatorFolder(database)
  const { run, failure } = place
  const stateOf = (name: string, ...args: readonly string[]) => versionState(run, name, ...args)
  const ship = (files: Readonly<Record<string, string>>, under = 'migrations') => place.ship(files, under)

  it('name the versions that the files lack, where there is nothing to do', async () => {
    ship(tables(2, 3))
    await run('up')
    ship(tables(2), 'older')
    const nothing =
      'nothing to do: the database has every version of these files, and 0003_t3, which they lack\n'
    for (const verb of ['up', 'plan', 'dry-run']) {
      const { exit, stdout } = await run(verb, '--files', 'older')
      expect([exit, stdout.startsWith(nothing)], stdout).to.deep.equal([0, true])
    }
  })

  it('refuse an empty folder where the database has versions', async () => {
    ship(tables(2, 3))
    await run('up')
    mkdirSync(join(place.path, 'empty'))
    for (const verb of ['up', 'plan']) {
      const { exit, problems } = await failure(verb, '--files', 'empty')
      const empty = { kind: 'emptyFolder', applied: ['0002_t2', '0003_t3'], more: 0 }
      expect(exit, verb).to.equal(2)
      expect(problems[0], verb).to.deep.include(empty)
    }
  })

  it('roll nothing back with the files of another database', async () => {
    ship(tables(2))
    await run('up')
    ship(file('0002_books', 'CREATE TABLE books (id bigint PRIMARY KEY)', 'DROP TABLE books'), 'other')
    for (const verb of ['down', 'redo']) {
      const failed = await failure(verb, '--files', 'other', '--yes')
      const problems = [{ kind: 'otherName', version: '0002_t2', name: '0002_books' }]
      expect(failed, verb).to.deep.include({ exit: 6, problems })
      expect(failed.hasChanged, verb).to.not.equal(true)
    }
    await database().rows('SELECT id FROM t2')
  })

  it('ask before a way down without a statement lets up write values a second time', async () => {
    ship({ ...tables(2), ...file('0003_fill', 'UPDATE t2 SET id = id + 1', '-- they stay') })
    await run('up')
    await database().rows('INSERT INTO t2 VALUES (1)')
    const asked = await run('down')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.include(
      'No statement rolls back 0003_fill: what it wrote stays, and the next ashlar migrate up writes it a second time.',
    )
    expect((await run('down', '--yes')).stdout).to.include(
      'the next ashlar migrate up writes it a second time, unless ashlar migrate resolve --applied 3 records it before\n',
    )
    expect((await run('resolve', '--applied', '3', '--yes')).exit).to.equal(0)
    expect((await run('up')).stdout).to.equal('nothing to do: the schema is current\n')
    expect((await run('down', '--to', '0')).stderr).to.include(
      'note: 0003_fill has no statement to roll back, and what it did stays\n',
    )
  })

  it('say how far a rollback of several came, and in which order they go', async () => {
    ship(tables(2, 3, 4))
    await run('up')
    await database().rows('DROP TABLE t3')
    const { exit, problems } = await failure('down', '--to', '1', '--yes')
    expect(exit).to.equal(6)
    expect(problems).to.have.length(1)
    expect(problems[0]).to.deep.include({
      kind: 'rollBackStopped',
      rolledBack: ['0004_t4'],
      left: ['0003_t3', '0002_t2'],
      to: 1,
    })
    await database().rows('CREATE TABLE t3 (id bigint)')
    expect((await run('down', '--to', '1', '--yes')).stdout).to.match(
      /^rolled back 0003_t3\nrolled back 0002_t2\n/,
    )
  })

  it('say why down does not roll back the highest number', async () => {
    ship(tables(2, 9001))
    await run('up')
    ship(tables(3))
    await run('up')
    const { stdout, stderr } = await run('down', '--yes')
    expect(stdout).to.match(/^rolled back 0003_t3\n/)
    expect(stderr).to.include(
      'note: 0003_t3 was applied last, and is rolled back first: 9001_t9001, with a higher number, was applied before it and stays\n',
    )
  })

  it('offer no repair for the files of another database', async () => {
    ship(tables(2))
    await run('up')
    ship(file('0002_books', 'CREATE TABLE books (id bigint PRIMARY KEY)', 'DROP TABLE books'), 'other')
    expect(await stateOf('0002_t2', '--files', 'other')).to.include({
      state: 'edited',
      otherName: '0002_books',
    })
    expect((await run('status', '--files', 'other')).stdout).to.not.include('repair')
    expect((await run('verify', '--files', 'other')).stdout)
      .to.include('0002_t2 is applied, and these files have 0002_books: ')
      .and.not.include('repair')
    const repair = await failure('repair', '--files', 'other', '--yes')
    const problems = [{ kind: 'otherName', version: '0002_t2', name: '0002_books' }]
    expect(repair).to.deep.include({ exit: 6, problems })
    expect((await run('up')).stdout).to.equal('nothing to do: the schema is current\n')
  })

  it('say how to get out of a version that failed and that the files do not have', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id bigint);\nnonsense', 'DROP TABLE t3') })
    await run('up')
    ship(tables(2), 'older')
    const { exit, stdout, stderr } = await run('up', '--files', 'older')
    expect([exit, stdout]).to.deep.equal([
      6,
      'nothing is applied: the database has every version of these files\n',
    ])
    expect(stderr)
      .to.match(
        /\nashlar: 0003_t3 is dirty: these files do not have it; run migrate up with --files and the folder that has it/,
      )
      .and.include(
        dialect === 'mysql'
          ? 'undo by hand what is done (statement 1), and record that with ashlar migrate resolve --files older --rolled-back 3'
          : 'roll it back with ashlar migrate down --files older',
      )
    expect((await run('dry-run', '--files', 'older')).stdout).to.match(
      /^nothing to do: .*; 0003_t3 is dirty: ashlar migrate status --files older says what to do\n$/,
    )
    if (dialect === 'mysql') await database().rows('DROP TABLE t3')
    const out = dialect === 'mysql' ? ['resolve', '--rolled-back', '3', '--yes'] : ['down']
    expect((await run(...out, '--files', 'older')).exit).to.equal(0)
    expect((await run('up', '--files', 'older')).exit).to.equal(0)
  })

  if (dialect === 'postgres')
    it('ask before up makes the tables of another schema a second time', async () => {
      ship(tables(2))
      await run('up', '--module', 'inventory')
      await database().rows('DROP TABLE ashlar_migrations')
      for (const [here, ...place] of [['public'], ['inventroy', '--module', 'inventroy']] as const) {
        const { exit, stdout, stderr } = await run('up', ...place)
        expect([exit, stdout]).to.deep.equal([2, ''])
        expect(stderr).to.include(
          `no version is applied in the schema ${here}, and inventory has 0002_t2 of these files: this makes all of them a second time, in ${here}. Where inventory is meant: ashlar migrate up --schema inventory.\n`,
        )
        expect((await run('status', ...place)).stdout).to.include(
          `Next: ashlar migrate status --schema inventory, unless ${here} is meant\n`,
        )
      }
      expect((await run('down', '--yes')).stderr).to.include('and inventory has versions')
      ship(file('0002_other', 'CREATE TABLE other (id bigint PRIMARY KEY)', 'DROP TABLE other'), 'other')
      expect((await run('up', '--module', 'sales', '--files', 'other')).exit).to.equal(0)
      expect((await run('up', '--module', 'inventroy', '--yes')).exit).to.equal(0)
    })

  if (dialect === 'postgres')
    it('name the schema that has versions in place of up', async () => {
      ship(tables(2))
      await run('up', '--module', 'inventory')
      await database().rows('DROP TABLE ashlar_migrations')
      const next = 'Next: ashlar migrate status --schema inventory, unless public is meant\n'
      const status = (await run('status')).stdout
      expect(status).to.include(next).and.not.include('applies what is pending')
      expect((await run('verify')).stdout).to.equal(
        status
          .split('\n')
          .flatMap((line) => /^(\d{4}_\w+) +pending/.exec(line)?.[1] ?? [])
          .map((name) => `${name} is not applied\n`)
          .join('') + next,
      )
    })
})
