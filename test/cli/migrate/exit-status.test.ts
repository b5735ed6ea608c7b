import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TYPE_YES } from '../../../cli/output/confirmed.js'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { freshDatabase } from '../../migrations/fresh-database.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { compiled } from '../../support/root.js'
import { runCli } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'
import { serviceUrl } from '../../support/running/services.js'
import { AT_A_TERMINAL } from '../../support/running/at-a-terminal.js'
import { textOf } from '../../support/sources/documents.js'

const BEFORE = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'before.js')
const AFTER = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'after.js')
const NO_ENTITIES = join(compiled, 'test', 'support', 'root.js')

/** Command → exit status → what it is for, as the page has it. */
const TABLE = new Map(
  [
    ...(
      /### Exit status of each command\n(.*)/s.exec(textOf('docs/reference/migrate-output.md'))?.[1] ?? ''
    ).matchAll(/^\| `([a-z-]+)` +\|(.*)\|$/gm),
  ].map(([, command = '', cells = '']) => [
    command,
    cells.split('|').flatMap((cell, at) => (cell.trim() === '' ? [] : [[0, 1, 2, 6][at]])),
  ]),
)

const FAILING = file('0002_t2', 'CREATE TABLE t2 (id nonsense)', 'DROP TABLE t2')
const MISNAMED = { '2_t2.up.sql': 'SELECT 1' }
const VIEW = file('0002_v', 'CREATE VIEW v AS SELECT 1 AS one', 'DROP VIEW v')
/** On MySQL its down migration stops half-way. */
const HALF_UP = 'CREATE TABLE c1 (id bigint);\nCREATE TABLE c2 (id bigint)'
const HALF_DOWN = 'DROP TABLE c1;\nDROP TABLE gone;\nDROP TABLE c2'
const NONE = 'http.createServer((call, reply) => reply.end()).listen(process.env.PORT)'

onEachEngine('an exit status of ashlar migrate', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-exit-'))
    mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    writeFileSync(join(folder, 'load.mjs'), 'export default async (url) => void (await fetch(url))\n')
    writeFileSync(join(folder, 'none.mjs'), 'export const one = 1\n')
    writeFileSync(join(folder, 'image.mjs'), `import http from 'node:http'\n${NONE}\n`)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const options = (url = database().url) => ({ cwd: folder, env: { ASHLAR_DATABASE_URL: url } })
  let said = ''
  const run = async (...args: readonly string[]) => {
    const ran = await runCommand(['migrate', ...args], options())
    said = ran.stderr
    return ran.exit
  }
  const ship = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, 'migrations', dialect, name), text)
  }
  const shipped = async (files: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    ship(files)
    return run(...args)
  }
  const applied = async (files: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    ship(files)
    expect(await run('up')).to.equal(0)
    return run(...args)
  }
  const edited = async (...args: readonly string[]) => {
    await applied(tables(2))
    return shipped({ '0002_t2.up.sql': '-- a remark\nCREATE TABLE t2 (id bigint PRIMARY KEY)' }, ...args)
  }
  const nowhere = async (...args: readonly string[]) => {
    const url = new URL(database().url)
    url.port = '1'
    return (await runCommand(['migrate', ...args], options(url.href))).exit
  }
  /** In a database that another tool migrates. */
  const foreign = async (...args: readonly string[]) => {
    const other = await freshDatabase(serviceUrl(dialect) ?? '')
    try {
      await other.rows(
        'CREATE TABLE knex_migrations (name varchar(9), batch int, migration_time timestamp NULL)',
      )
      return (await runCommand(['migrate', ...args], options(other.url))).exit
    } finally {
      await other.drop()
    }
  }
  /** The exit status of a question that is answered with no. */
  const no = async (...args: readonly string[]) =>
    (
      await runCli('ashlar', ['migrate', ...args], {
        cwd: folder,
        env: { ...options().env, NO_COLOR: '1', TERM: 'xterm' },
        under: AT_A_TERMINAL,
        input: { text: 'no\n', after: TYPE_YES },
      })
    ).exit
  const rollout = (old: string, load: string) =>
    run(
      ...['try-rollout', '--old', old, '--new', `'${process.execPath}' image.mjs`],
      ...['--load', load, '--seconds', '1', '--yes'],
    )
  const IMAGE = `'${process.execPath}' image.mjs`
  const asks = ['--old', IMAGE, '--new', IMAGE, '--load', 'load.mjs']

  const CASES: Readonly<Record<string, Readonly<Record<number, () => Promise<number | null>>>>> = {
    up: {
      0: () => applied(tables(2), 'up'),
      1: async () => {
        if (dialect === 'postgres') return (await applied(tables(2))) || no('up', '--schema', 'other')
        ship(file('0002_c', HALF_UP, HALF_DOWN))
        await run('up')
        await run('down', '--yes')
        return no('up')
      },
      2: () => shipped(tables(2), 'up', '--to', '9'),
      6: () => shipped(FAILING, 'up'),
    },
    down: {
      0: () => applied(VIEW, 'down'),
      1: async () => (await applied(tables(2))) || no('down'),
      2: () => applied(tables(2), 'down'),
      6: () => applied(file('0002_v', VIEW['0002_v.up.sql'] ?? '', 'DROP VIEW w'), 'down'),
    },
    redo: {
      0: () => applied(VIEW, 'redo'),
      1: async () => (await applied(tables(2))) || no('redo'),
      2: () => applied(tables(2), 'redo'),
      6: () => applied(file('0002_v', VIEW['0002_v.up.sql'] ?? '', 'DROP VIEW w'), 'redo'),
    },
    status: {
      0: () => shipped(tables(2), 'status'),
      1: () => shipped(tables(2), 'status', '--check'),
      2: () => shipped(MISNAMED, 'status'),
      6: () => foreign('status'),
    },
    plan: {
      0: () => shipped(tables(2), 'plan'),
      2: () => shipped(MISNAMED, 'plan'),
      6: () => foreign('plan'),
    },
    verify: {
      0: () => applied(tables(2), 'verify'),
      1: () => shipped(tables(2), 'verify'),
      2: () => run('verify', '--entities', NO_ENTITIES),
      6: () => nowhere('verify'),
    },
    lint: {
      0: () => shipped(tables(2), 'lint'),
      1: () => shipped(file('0002_x', 'DROP TABLE x', '-- gone'), 'lint'),
      2: () => shipped(MISNAMED, 'lint'),
    },
    check: {
      0: () => shipped(tables(2), 'check'),
      1: () => shipped(FAILING, 'check'),
      2: () => shipped(MISNAMED, 'check'),
      6: async () => {
        const user = await limitedUser(
          database(),
          dialect === 'postgres' ? [] : ['GRANT SELECT ON * TO USER'],
        )
        try {
          return (await runCommand(['migrate', 'check'], options(user.url))).exit
        } finally {
          await user.drop()
        }
      },
    },
    new: {
      0: async () =>
        (await run('new', 'tasks', '--entities', BEFORE)) || run('new', 'more', '--entities', BEFORE),
      2: () => run('new', 'Tasks'),
      6: () => shipped(FAILING, 'new', 'tasks', '--entities', BEFORE),
    },
    diff: {
      0: async () =>
        (await run('diff', 'tasks', '--entities', BEFORE)) || run('diff', 'more', '--entities', BEFORE),
      1: () => run('diff', 'end', '--entities', AFTER, '--contract'),
      2: () => run('diff', 'tasks', '--entities', BEFORE, '--files', 'nowhere'),
      6: () => shipped(FAILING, 'diff', 'tasks', '--entities', BEFORE),
    },
    baseline: {
      0: () => shipped(tables(2), 'baseline', '--to', '2'),
      2: () => shipped(tables(2), 'baseline', '--to', '3'),
      6: () => applied(tables(2), 'baseline', '--to', '2'),
    },
    adopt: {
      0: () => foreign('adopt'),
      2: () => foreign('adopt', '--dump', 'nope.sql'),
      6: () => run('adopt'),
    },
    resolve: {
      0: () => shipped(tables(2), 'resolve', '--applied', '2', '--yes'),
      1: async () => {
        ship(tables(2))
        return no('resolve', '--applied', '2')
      },
      2: () => shipped(tables(2), 'resolve', '--applied', '2'),
      6: () => applied(tables(2), 'resolve', '--applied', '2', '--yes'),
    },
    repair: {
      0: () => edited('repair', '--yes'),
      1: async () => {
        await edited('status')
        return no('repair')
      },
      2: () => edited('repair'),
      6: () => nowhere('repair'),
    },
    renumber: {
      0: () => shipped(tables(2, 3), 'renumber', '0003_t3', '0002_t2'),
      2: () => shipped(tables(2, 3), 'renumber', '0002_t9'),
    },
    'dry-run': {
      0: async () => (await shipped(tables(2), 'dry-run', '--yes')) || run('dry-run'),
      1: async () => {
        ship(tables(2))
        return no('dry-run')
      },
      2: () => shipped(tables(2), 'dry-run'),
      6: () => shipped(FAILING, 'dry-run', '--yes'),
    },
    'try-rollout': {
      0: () => rollout(IMAGE, 'load.mjs'),
      1: () => rollout('exit 3', 'load.mjs'),
      2: async () => {
        expect(await rollout(IMAGE, 'none.mjs')).to.equal(2)
        return run('try-rollout', ...asks)
      },
      6: async () => {
        ship(FAILING)
        return rollout(IMAGE, 'load.mjs')
      },
    },
  }

  it('is tried for each cell of the table of docs/reference/migrate-output.md', () => {
    const tried = Object.entries(CASES).map(([command, cases]) => [command, Object.keys(cases).map(Number)])
    expect([...TABLE]).to.deep.equal(tried)
  })

  for (const [command, cases] of Object.entries(CASES))
    for (const [exit, work] of Object.entries(cases))
      it(`is what the table says: ${command} ${exit}`, async () => {
        expect(await work(), said).to.equal(Number(exit))
      })

  it('is 2 for a flag that there is not, and 6 without a connection', async () => {
    ship(tables(2))
    const named: Readonly<Record<string, readonly string[]>> = {
      new: ['more', '--entities', BEFORE],
      diff: ['more', '--entities', BEFORE],
      baseline: ['--to', '2'],
      resolve: ['--applied', '2', '--yes'],
      renumber: ['0002_t2'],
      'try-rollout': [...asks, '--yes'],
      'dry-run': ['--yes'],
    }
    for (const command of TABLE.keys()) {
      const words = [command, ...(named[command] ?? [])]
      expect(await run(...words, '--bogus'), command).to.equal(2)
      if (!['lint', 'renumber'].includes(command)) expect(await nowhere(...words), command).to.equal(6)
    }
  })

  it('is 2 for a connection string that is not a URL', async () => {
    ship(tables(2))
    for (const command of ['up', 'status', 'check', 'adopt'])
      expect(
        (await runCommand(['migrate', command], options(`${dialect}://ada:x y@127.0.0.1:port/app`))).exit,
        command,
      ).to.equal(2)
  })
})
