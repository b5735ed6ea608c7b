import { expect } from 'chai'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'
import { jsonOf } from '../../support/run-command.js'
import { versionState } from '../../support/projects/version-state.js'

onEachEngine('the commands of ashlar migrate in the wrong place', (database, dialect) => {
  const place = operatorFolder(database)
  const { run, json, failure } = place
  const stateOf = (name: string, ...args: readonly string[]) => versionState(run, name, ...args)
  const ship = (files: Readonly<Record<string, string>>, under = 'migrations') => place.ship(files, under)

  it('name the versions that the files lack, where there is nothing to do', async () => {
    ship(tables(2, 3))
    await run('up')
    ship(tables(2), 'older')
    for (const verb of ['up', 'plan', 'dry-run']) {
      const { exit, stdout } = await run(verb, '--files', 'older')
      expect(exit, verb).to.equal(0)
      expect(stdout, verb).to.match(/^[^\n]*\b0003_t3\b/)
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

  it('ask before a down migration without a statement lets up write values a second time', async () => {
    ship({ ...tables(2), ...file('0003_fill', 'UPDATE t2 SET id = id + 1', '-- they stay') })
    await run('up')
    await database().rows('INSERT INTO t2 VALUES (1)')
    const asked = await run('down')
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.match(/\. .* 0003_fill: .*\bashlar migrate up\b/)
    expect((await run('down', '--yes')).stdout).to.match(
      /\n0003_fill .*\bashlar migrate up\b.*\bashlar migrate resolve --applied 3\b.*\n/,
    )
    expect((await run('resolve', '--applied', '3', '--yes')).exit).to.equal(0)
    expect(await json('up')).to.deep.include({ applied: [] })
    expect((await run('down', '--to', '0')).stderr).to.match(/^note: 0003_fill .*$/m)
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
    expect(await json('down', '--to', '1', '--yes')).to.deep.include({ rolledBack: ['0003_t3', '0002_t2'] })
  })

  it('say why down does not roll back the highest number', async () => {
    ship(tables(2, 9001))
    await run('up')
    ship(tables(3))
    await run('up')
    const ran = await run('down', '--yes', '--json')
    expect(jsonOf(ran)).to.deep.include({ rolledBack: ['0003_t3'] })
    expect(ran.stderr).to.match(/^note: 0003_t3 .*\b9001_t9001\b/m)
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
    const { details } = await json<{ details: readonly object[] }>('verify', '--files', 'other')
    expect(details).to.deep.equal([{ kind: 'otherName', version: '0002_t2', name: '0002_books' }])
    expect((await run('verify', '--files', 'other')).stdout).to.not.include('repair')
    const repair = await failure('repair', '--files', 'other', '--yes')
    const problems = [{ kind: 'otherName', version: '0002_t2', name: '0002_books' }]
    expect(repair).to.deep.include({ exit: 6, problems })
    expect(await json('up')).to.deep.include({ applied: [] })
  })

  it('say how to get out of a version that failed and that the files do not have', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id bigint);\nnonsense', 'DROP TABLE t3') })
    await run('up')
    ship(tables(2), 'older')
    const up = await run('up', '--files', 'older', '--json')
    expect(up.exit).to.equal(6)
    expect(jsonOf(up)).to.have.deep.nested.include({ 'error.applied': [], 'error.dirty': ['0003_t3'] })
    const way = dialect === 'mysql' ? 'resolve --files older --rolled-back 3' : 'down --files older'
    expect(up.stderr)
      .to.match(/\nashlar: 0003_t3 .*--files\b/)
      .and.include(`ashlar migrate ${way}`)
    expect((await run('dry-run', '--files', 'older')).stdout).to.match(
      /; 0003_t3 .*\bashlar migrate status --files older\b.*\n$/,
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
        expect(stderr).to.match(
          new RegExp(` ${here} contains no .*\\binventory .*\\b0002_t2\\b.* ${here}\\. `),
        )
        expect(stderr).to.include('ashlar migrate up --schema inventory.\n')
        expect((await run('status', ...place)).stdout).to.include(
          'ashlar migrate status --schema inventory, ',
        )
      }
      expect((await run('down', '--yes')).stderr).to.match(/^note: .*\binventory\b/m)
      ship(file('0002_other', 'CREATE TABLE other (id bigint PRIMARY KEY)', 'DROP TABLE other'), 'other')
      expect((await run('up', '--module', 'sales', '--files', 'other')).exit).to.equal(0)
      expect((await run('up', '--module', 'inventroy', '--yes')).exit).to.equal(0)
    })

  if (dialect === 'postgres')
    it('name the schema that has versions in place of up', async () => {
      ship(tables(2))
      await run('up', '--module', 'inventory')
      await database().rows('DROP TABLE ashlar_migrations')
      const next = ['ashlar migrate status --schema inventory']
      for (const verb of ['status', 'verify']) {
        const { stdout } = await run(verb)
        expect(stdout.match(/\bashlar migrate \w+(?: --\w+ \w+)*/g), verb).to.deep.equal(next)
      }
    })
})
