import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { compiled } from '../../support/root.js'
import { runCommand } from '../../support/run-command.js'
import { RECIPES } from '../../support/sources/migration-guides.js'

/**
 * What the commands say, which stop at the first that fails. A shell reads their words, and they run in this
 * process.
 */
async function runRecipe(commands: string, cwd: string, url: string) {
  const env = { ...process.env, ASHLAR_DATABASE_URL: url, COPY_URL: url }
  let said = ''
  for (const line of commands.split('\n')) {
    expect(line).to.match(/^ashlar \S/)
    const words = execFileSync('sh', ['-e', '-c', `printf '%s\\0' ${line}`], { env, encoding: 'utf8' })
    const ran = await runCommand(words.split('\0').slice(1, -1), { cwd, env })
    said += ran.said
    if (ran.exit !== 0) return { exit: ran.exit, said }
  }
  return { exit: 0, said }
}

onEachEngine('a recipe of the guides to migrations', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-recipe-'))
    mkdirSync(join(folder, 'dist'))
    mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    symlinkSync(join(compiled, 'test/cli/migrate/hosts/before.js'), join(folder, 'dist', 'entities.js'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const ship = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, 'migrations', dialect, name), text)
  }
  const shipTasks = () =>
    runRecipe('ashlar migrate diff tasks --entities dist/entities.js', folder, database().url)
  const up = (files: Readonly<Record<string, string>>) => migrate({ url: database().url, files }).up()

  /** What there is before, and what the commands say. */
  const CASES: Readonly<Record<string, readonly [prepare: () => unknown, said: RegExp]>> = {
    'Write a version': [
      () => ship(tables(2, 3)),
      / 0003_t3\n[^\n]* 0003_t3\n.* 0003_t3\n0003_t3 [^\n]*\bashlar migrate up\b[^\n]*\n$/s,
    ],
    'Stop at a version': [() => ship(tables(2, 3)), / 0002_t2\n.* 0003_t3\n$/s],
    'See what a run would do': [
      () => ship(tables(2)),
      /^.*\n0002_t2\n {2}.* 1: CREATE TABLE t2 .*\n {4}.*\n$/,
    ],
    'Try a run on a copy': [() => ship(tables(2)), /0002_t2: .*\d+ ms\n[^]*\bashlar migrate up\b[^\n]*\n$/],
    'Try a deployment on a copy': [
      async () => {
        await shipTasks()
        await runRecipe('ashlar migrate up', folder, database().url)
        const image = join(compiled, 'test/cli/migrate/hosts/image.js')
        const main = `process.argv.push(${JSON.stringify(join(folder, 'dist', 'entities.js'))}, '{"title":"build","colour":"red"}')\nawait import('${image}')\n`
        mkdirSync(join(folder, 'old'))
        for (const place of ['old', 'dist']) {
          writeFileSync(join(folder, place, 'main.js'), main)
          writeFileSync(join(folder, place, 'package.json'), '{"type":"module"}')
        }
        symlinkSync(join(compiled, 'test/cli/migrate/hosts/load.js'), join(folder, 'dist', 'load.js'))
      },
      /: 3\.\d s\n {2}new: \d+ .*\d+ ms\n0 of \d+ [^\n]*\n[^\n]*\n$/,
    ],
    'Check in continuous integration': [shipTasks, /\n$/],
    'Two branches took the same number': [
      () =>
        ship({
          ...tables(2, 3),
          ...file(
            '0003_add_size',
            'ALTER TABLE t2 ADD COLUMN size bigint',
            'ALTER TABLE t2 DROP COLUMN size',
          ),
          ...file(
            '0004_fill_size',
            '-- ashlar:backfill\nUPDATE t2 SET size = 0',
            '-- it goes with the column',
          ),
        }),
      /\b0003_add_size to 0004_add_size\n.*\b0004_fill_size to 0005_fill_size\n(?:note: [^\n]*\n){2}[^\n]*\bashlar migrate lint\n/,
    ],
    'A database that has the tables already': [
      async () => {
        await shipTasks()
        await runRecipe('ashlar migrate up', folder, database().url)
        await database().rows('DELETE FROM ashlar_migrations WHERE version = 2')
      },
      / 0002_tasks [^\n]*\n[^\n]*\bashlar migrate up, .*\bashlar migrate verify /,
    ],
    'A version that you put right by hand': [
      async () => {
        const files = { ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') }
        ship(files)
        await failureOf(up(files))
      },
      / 0003_t3 [^\n]*\n.*0003_t3 +applied/s,
    ],
    'A file that was edited after it was applied': [
      async () => {
        await up(tables(2))
        ship({
          ...tables(2),
          '0002_t2.up.sql': '-- the first table\nCREATE TABLE t2 (id bigint PRIMARY KEY)',
        })
      },
      /\+ -- the first table\n[^\n]* 0002_t2 [^\n]*\n[^\n]*\n[^\n]*\n$/,
    ],
  }

  it('has a case here', () => {
    expect([...RECIPES.keys()]).to.have.members(Object.keys(CASES))
  })

  for (const [title, [prepare, wanted]] of Object.entries(CASES))
    it(`does what it says: ${title}`, async () => {
      await prepare()
      const { exit, said } = await runRecipe(RECIPES.get(title) ?? 'false', folder, database().url)
      expect(exit, said).to.equal(0)
      expect(said).to.match(wanted)
    })
})
