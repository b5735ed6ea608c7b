import { expect } from 'chai'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'

onEachEngine('the commands of ashlar migrate in the wrong place', (database, dialect) => {
  const place = operatorFolder(database)
  const { run } = place
  const ship = (files: Readonly<Record<string, string>>, under = 'migrations') => place.ship(files, under)

  it('name the versions that the files lack, where there is nothing to do', async () => {
    ship(tables(2, 3))
    await run('up')
    mkdirSync(join(place.path, 'empty'))
    const nothing =
      'nothing to do: the database has every version of these files, and 0002_t2, 0003_t3, which they lack\n'
    for (const verb of ['up', 'plan', 'dry-run']) {
      const { exit, stdout } = await run(verb, '--files', 'empty')
      expect([exit, stdout.startsWith(nothing)], stdout).to.deep.equal([0, true])
    }
  })

  it('offer no repair for the files of another database', async () => {
    ship(tables(2))
    await run('up')
    ship(file('0002_books', 'CREATE TABLE books (id bigint PRIMARY KEY)', 'DROP TABLE books'), 'other')
    const { stdout } = await run('status', '--files', 'other')
    expect(stdout)
      .to.match(/^0002_t2 +edited.*: these files have 0002_books$/m)
      .and.match(/\nedited, and called otherwise in these files: .*name the right folder with --files/)
      .and.not.include('repair')
    expect((await run('verify', '--files', 'other')).stdout)
      .to.include('0002_t2 is applied, and these files have 0002_books: ')
      .and.not.include('repair')
    const repair = await run('repair', '--files', 'other', '--yes')
    expect([repair.exit, repair.stdout]).to.deep.equal([6, ''])
    expect(repair.stderr)
      .to.include('0002_books is not 0002_t2, which was applied')
      .and.match(/Nothing is changed\n$/)
    expect((await run('up')).stdout).to.equal('nothing to do: the schema is current\n')
  })

  it('say how to get out of a version that failed and that the files do not have', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id bigint);\nnonsense', 'DROP TABLE t3') })
    await run('up')
    mkdirSync(join(place.path, 'empty'))
    const { stdout } = await run('up', '--files', 'empty')
    expect(stdout)
      .to.match(/^0003_t3 is dirty: these files do not have it; run ashlar migrate up --files empty with /)
      .and.include('nothing is applied: the database has every version of these files, and 0002_t2, which')
    expect(stdout).to.include(
      dialect === 'mysql'
        ? 'undo by hand what is done (statement 1), and record that with ashlar migrate resolve --files empty --rolled-back 3'
        : 'roll it back with ashlar migrate down --files empty',
    )
    expect((await run('dry-run', '--files', 'empty')).stdout).to.match(
      /^nothing to do: .*; 0003_t3 is dirty: ashlar migrate status --files empty says what to do\n$/,
    )
    if (dialect === 'mysql') await database().rows('DROP TABLE t3')
    const out = dialect === 'mysql' ? ['resolve', '--rolled-back', '3', '--yes'] : ['down']
    expect((await run(...out, '--files', 'empty')).exit).to.equal(0)
    expect((await run('up', '--files', 'empty')).stdout).to.not.include('dirty')
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
      expect((await run('status', '--schema', 'public')).stdout).to.not.include('Next:')
    })
})
