import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyText } from '../../../cli/migrate/next-files.js'
import type { TriedVersion } from '../../../lib/migrations/index.js'
import { resolveOptions } from '../../../lib/migrations/resolve-options.js'
import { withLock } from '../../../lib/migrations/session/lock.js'
import { withSession } from '../../../lib/migrations/session/session.js'
import { expectGolden } from '../../support/golden.js'
import { type VersionState, versionState } from '../../support/projects/version-state.js'
import { jsonOf, runCommand } from '../../support/run-command.js'
import { file, onEachEngine, saidOf, tables } from '../../migrations/each-engine.js'

const VERBS = [
  ...['', 'new', 'diff', 'lint', 'up', 'down', 'redo', 'status', 'plan', 'dry-run', 'verify', 'check'],
  ...['baseline', 'resolve', 'repair', 'renumber', 'adopt', 'try-rollout'],
]

describe('ashlar migrate', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-migrate-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const run = (...args: readonly string[]) => runCommand(['migrate', ...args], { cwd: folder })
  /** Why a command fails. */
  const problemOf = async (...args: readonly string[]) =>
    jsonOf<{ error: { problems?: readonly { readonly kind: string }[] } }>(await run(...args, '--json')).error
      .problems?.[0]
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }

  for (const verb of VERBS)
    it(`says what it does: ${verb || 'the topic'}`, async () => {
      const { exit, stdout } = await run(...(verb === '' ? [] : [verb]), '--help')
      expect(exit).to.equal(0)
      expectGolden(`cli/help-ashlar-migrate${verb === '' ? '' : `-${verb}`}.txt`, stdout)
    })

  describe('new', () => {
    it('writes empty files of the next number of each engine', async () => {
      const { exit, stdout } = await run('new', 'first_table')
      expect([exit, stdout.split('\n').length]).to.deep.equal([0, 6])
      expect(stdout).to.include('ashlar migrate lint')
      write('migrations/mysql/0003_only_here.up.sql', '')
      write('migrations/mysql/9001_generated.up.sql', '')
      await run('new', 'second')
      for (const [engine, number] of [
        ['postgres', '0003'],
        ['mysql', '0004'],
      ] as const)
        expect(readdirSync(join(folder, 'migrations', engine))).to.include.members([
          ...['0002_first_table.up.sql', '0002_first_table.down.sql'],
          ...[`${number}_second.up.sql`, `${number}_second.down.sql`],
        ])
      expect(readFileSync(join(folder, 'migrations/mysql/0004_second.up.sql'), 'utf8')).to.equal('')
    })

    it('writes for the engines whose folders are there', async () => {
      await run('new', 'first_table', '--dialect', 'postgres')
      await run('new', 'second')
      expect(readdirSync(join(folder, 'migrations'))).to.deep.equal(['postgres'])
      expect(readdirSync(join(folder, 'migrations/postgres'))).to.include('0003_second.up.sql')
      await run('new', 'third', '--dialect', 'mysql')
      expect(readdirSync(join(folder, 'migrations/mysql'))).to.deep.equal([
        '0002_third.down.sql',
        '0002_third.up.sql',
      ])
    })

    it('names a next command that has the flags, and only those', async () => {
      const { stdout } = await run('new', 'a', '--module', 'other', '--files', 'sql')
      expect(stdout).to.match(/\bashlar migrate lint --files sql\b(?! --)/)
    })

    it('stays in a folder that has files without the folders of the engines', async () => {
      write('sql/0002_a.up.sql', '')
      await run('new', 'b', '--files', 'sql')
      expect(readdirSync(join(folder, 'sql'))).to.deep.equal([
        '0002_a.up.sql',
        '0003_b.down.sql',
        '0003_b.up.sql',
      ])
    })

    for (const name of ['Colour', 'a b', '../a', 'a__b', ''])
      it(`refuses the name ${JSON.stringify(name)}`, async () => {
        const { exit, stderr } = await run('new', '--', name)
        expect(exit).to.equal(2)
        expect(stderr.slice(0, 'ashlar: '.length + name.length)).to.equal(`ashlar: ${name}`)
        expect(readdirSync(folder)).to.deep.equal([])
      })
  })

  describe('lint', () => {
    it('says file, line, level and rule, and exits with 1 on a danger', async () => {
      write('migrations/postgres/0002_a.up.sql', 'SELECT 1;\nDROP TABLE a')
      write('migrations/postgres/0002_a.down.sql', '-- gone is gone')
      write('migrations/mysql/0002_a.up.sql', 'CREATE TABLE b (id int)')
      write('migrations/mysql/0002_a.down.sql', 'DROP TABLE b')
      const { exit, stdout, stderr } = await run('lint')
      expect([exit, stderr]).to.deep.equal([1, ''])
      expect(stdout).to.match(/^migrations\/postgres\/0002_a\.up\.sql:2: danger: .* \[ban-drop-table\]\n/)
      const one = await run('lint', '--dialect', 'mysql', '--json')
      expect(one.exit).to.equal(0)
      expect(jsonOf(one)).to.deep.equal([])
    })

    it('exits with 0 on advice, and with 1 on it when it is strict', async () => {
      write('migrations/0002_a.up.sql', 'CREATE TABLE a (id int)')
      write('migrations/0002_a.down.sql', 'DROP TABLE a')
      expect((await run('lint')).exit).to.equal(0)
      const { exit, stdout } = await run('lint', '--strict', '--json')
      expect(exit).to.equal(1)
      expect((JSON.parse(stdout) as { rule: string }[]).map(({ rule }) => rule)).to.deep.equal([
        'prefer-bigint-over-int',
      ])
    })

    it('does not ask anybody to edit a file of search generate', async () => {
      write(
        'migrations/9001_a_search_vector.up.sql',
        `ALTER TABLE a ADD COLUMN search_vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', b)) STORED`,
      )
      write('migrations/9001_a_search_vector.down.sql', 'ALTER TABLE a DROP COLUMN search_vector')
      const { exit, stdout } = await run('lint', '--strict')
      expect(exit).to.equal(0)
      expect(stdout).to.include('[adding-search-vector]').and.not.include('ashlar:allow')
    })

    it('names the folder of the engine whose files are wrong', async () => {
      write('migrations/postgres/0002_a.up.sql', 'SELECT 1')
      write('migrations/postgres/0002_a.down.sql', '-- nothing')
      write('migrations/mysql/0003_a.up.sql', 'SELECT 1')
      const { exit, stderr } = await run('lint')
      expect(exit).to.equal(2)
      expect(stderr).to.match(/^ashlar: migrations in \S+\/migrations\/mysql: /)
      expect(await problemOf('lint')).to.include({ kind: 'gap', missing: 2, before: 3 })
    })

    it('exits with 2 on files that are none', async () => {
      write('migrations/2_a.up.sql', '')
      expect((await run('lint')).exit).to.equal(2)
      expect(await problemOf('lint')).to.include({
        kind: 'badNumber',
        file: '2_a.up.sql',
        hasFourDigits: false,
      })
      const none = await problemOf('lint', '--files', 'nowhere')
      expect(none).to.include({ kind: 'noFolder', code: 'ENOENT' })
      expect(none)
        .to.have.property('folder')
        .that.matches(/\/nowhere$/)
    })
  })

  it('wants a database, and says how to name it', async () => {
    const { exit, stderr } = await run('up')
    expect(exit).to.equal(2)
    expect(stderr).to.match(/^ashlar: --url .*\bASHLAR_DATABASE_URL\b/)
    const { stdout } = await run('up', '--json')
    expect(JSON.parse(stdout)).to.have.nested.property('error.message', stderr.slice(8, -1))
  })

  for (const [url, kind] of [
    ['', undefined],
    [' ', undefined],
    ['postgres://ada@127.0.0.1:1', 'noDatabaseNamed'],
    ['mysql://ada@127.0.0.1:1/', 'noDatabaseNamed'],
    ['mysql://ada@127.0.0.1:1/app?sslmode=require', 'badUrlParameter'],
  ] as const)
    it(`refuses the connection string ${JSON.stringify(url)} before it connects`, async () => {
      write('migrations/0002_a.up.sql', 'SELECT 1;')
      write('migrations/0002_a.down.sql', 'SELECT 1;')
      for (const verb of ['up', 'status']) {
        const { exit, stderr } = await run(verb, '--url', url)
        expect([exit, stderr.split('\n').length]).to.deep.equal([2, 2])
        expect((await problemOf(verb, '--url', url))?.kind).to.equal(kind)
      }
    })

  it('says what is wrong with a connection string that is not a URL, and repeats nothing of it', async () => {
    write('migrations/0002_a.up.sql', 'SELECT 1;')
    write('migrations/0002_a.down.sql', 'SELECT 1;')
    const url = 'postgres://ada:hun ter2@127.0.0.1:port/app'
    const { exit, said } = await run('up', '--url', url, '--json')
    expect([exit, said.includes('ter2')]).to.deep.equal([2, false])
    expect(await problemOf('up', '--url', url)).to.include({
      kind: 'noConnection',
      sqlState: 'ERR_INVALID_URL',
    })
  })

  it('refuses SQLite', async () => {
    write('migrations/0002_a.up.sql', '')
    expect((await run('up', '--url', 'sqlite:app.db')).exit).to.equal(2)
    expect(await problemOf('up', '--url', 'sqlite:app.db')).to.deep.equal({ kind: 'noVersionedSql' })
  })

  it('says that there is no connection, without the password', async () => {
    write('migrations/0002_a.up.sql', 'SELECT 1')
    write('migrations/0002_a.down.sql', '-- nothing')
    const url = 'postgres://u:hunter22@127.0.0.1:1/d'
    const { exit, said } = await run('up', '--url', url, '--json')
    expect([exit, said.includes('hunter22')]).to.deep.equal([6, false])
    expect(await problemOf('up', '--url', url)).to.include({ kind: 'noConnection', server: 'PostgreSQL' })
  })
})

onEachEngine('ashlar migrate', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-migrate-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const run = (...args: readonly string[]) =>
    runCommand(['migrate', ...args, '--files', folder], {
      env: { ASHLAR_DATABASE_URL: database().url },
    })
  const json = async <T = object>(...args: readonly string[]) => jsonOf<T>(await run(...args, '--json'))
  const stateOf = (name: string) => versionState(run, name)
  const ship = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  }

  it('goes up, shows where it is, and goes down', async () => {
    ship(tables(2, 3))
    const before = await run('status', '--check')
    expect(before.exit).to.equal(1)
    expect(before.stdout).to.include(`ashlar migrate up --files ${folder} `)
    const versions = await json<readonly VersionState[]>('status')
    expect(versions.map(({ name, state, isFramework }) => [name, state, isFramework])).to.deep.equal([
      ['0001_framework_init', 'applied', true],
      ['0002_t2', 'pending', false],
      ['0003_t3', 'pending', false],
      ['8001_outbox_log', 'applied', true],
    ])
    const up = await run('up', '--json')
    expect(up.exit).to.equal(0)
    expect(jsonOf(up)).to.deep.include({ applied: ['0002_t2', '0003_t3'], ahead: [] })
    expect(up.stderr.startsWith(saidOf(database()))).to.equal(true)
    expect(up.stderr).to.match(/\n\S+ 0002_t2 [^\n]*\n +1\/1 CREATE TABLE t2 [^\n]*\n +[^\n]*\d+ ms\n/)
    expect(await json('up')).to.deep.include({ applied: [], ahead: [] })
    expect((await run('status', '--check')).exit).to.equal(0)
    const same = await run('verify', '--json')
    expect(same.exit).to.equal(0)
    expect(jsonOf(same)).to.deep.include({ details: [] })
    const down = await run('down', '--to', '1', '--yes')
    expect(down.stdout).to.match(
      /\b0003_t3\n.*\b0002_t2\n0002_t2, 0003_t3 .*\bashlar migrate up --files \S+,/,
    )
    const again = await run('down', '--to', '1', '--json')
    expect([again.exit, again.stderr]).to.deep.equal([0, saidOf(database())])
    const { name, url } = database()
    const { rolledBack, database: where } = jsonOf<Record<string, unknown>>(again)
    expect(rolledBack).to.deep.equal([])
    expect(where).to.include({ dialect, name })
    expect(where).to.have.property('server').that.includes(new URL(url).hostname)
    const verify = await run('verify', '--json')
    expect(verify.exit).to.equal(1)
    expect(jsonOf(verify)).to.deep.include({
      details: ['0002_t2', '0003_t3'].map((version) => ({ kind: 'pending', version })),
    })
  })

  it('says whose the versions are that these files do not have', async () => {
    ship(tables(2, 3))
    await run('up')
    for (const way of ['up', 'down']) rmSync(join(folder, `0003_t3.${way}.sql`))
    expect(await json('up')).to.deep.include({ applied: [], ahead: ['0003_t3'] })
    expect(await stateOf('0003_t3')).to.include({ state: 'ahead' })
  })

  if (dialect === 'postgres')
    it('says where versions are when there are none in the schema', async () => {
      ship(tables(2))
      await run('up', '--module', 'shop')
      await database().rows('DROP TABLE ashlar_migrations')
      for (const verb of ['status', 'verify', 'plan']) {
        const { stderr } = await run(verb)
        expect(stderr.replace(saidOf(database()), ''), verb).to.match(/^note: .*\bpublic\b.*\bshop\b.*\n$/)
      }
      ship(file('0003_x', 'ALTER TABLE elsewhere ADD COLUMN a int', '-- no'))
      expect(await json('up', '--module', 'shop')).to.have.nested.include({
        ...{ 'database.schema': 'shop', 'error.problems[0].advice.kind': 'otherSchema' },
        'error.problems[0].advice.schema': 'shop',
      })
    })

  it('says that a folder has no version', async () => {
    const note = `note: ${emptyText(folder)}\n`
    for (const verb of ['up', 'status', 'plan', 'verify'])
      expect((await run(verb)).stderr, verb).to.equal(saidOf(database()) + note)
    expect(await run('lint', '--json')).to.include({ stderr: note, stdout: '[]\n' })
    ship(tables(2))
    expect((await run('status')).stderr).to.equal(saidOf(database()))
  })

  it('exits with 6 when a file fails, and says where', async () => {
    ship({ ...tables(2), '0002_t2.up.sql': 'CREATE TABLE t2 (id nonsense)' })
    const { exit, stdout } = await run('up')
    expect([exit, stdout]).to.deep.equal([6, ''])
    expect(await json('up')).to.have.nested.include({
      ...{ 'error.exit': 6, 'database.name': database().name },
      ...{ 'error.problems[0].file': '0002_t2.up.sql', 'error.problems[0].place.line': 1 },
    })
    const dirty = await stateOf('0002_t2')
    expect(dirty).to.include({ state: 'dirty' }).and.have.property('lastRunAt')
    expect(dirty?.error).to.include('0002_t2.up.sql')
  })

  it('prints what a dry run has measured before a version fails', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3') })
    const tried = await run('dry-run', '--yes')
    expect(tried.exit).to.equal(6)
    expect(tried.stdout).to.match(/^0002_t2: .*\d+ ms\n(.*\n)*0003_t3: .*\d+ ms\n/)
    const again = await json('dry-run', '--yes')
    expect(again).to.have.nested.property('versions[0].isApplied', false)
    expect(again).to.have.nested.property('error.exit', 6)
  })

  it('says why a dry run has measured no locks', async () => {
    ship({
      ...tables(2),
      ...file('0003_t3', 'CREATE TABLE t3 (id int PRIMARY KEY, n int)', 'DROP TABLE t3'),
      ...(dialect === 'postgres'
        ? file('0004_i', 'CREATE INDEX CONCURRENTLY i ON t3 (n)', 'DROP INDEX i')
        : file('0004_i', 'CREATE INDEX i ON t3 (n)', '-- no')),
      ...file('0005_fill', '-- ashlar:backfill chunk=10\nUPDATE t3 SET n = 1', '-- the values stay'),
    })
    const tried = await json<readonly TriedVersion[]>('dry-run', '--yes')
    const [inFile, outside] = dialect === 'postgres' ? [undefined, 'outside'] : ['server', 'server']
    expect(tried.map(({ unmeasured }) => unmeasured)).to.deep.equal([inFile, inFile, outside, 'chunks'])
  })

  it('says for whom it waits', async () => {
    ship(tables(2))
    const options = resolveOptions({ url: database().url, files: {}, module: 'the_other' })
    const ran = await withSession(options, 'change', (session) =>
      withLock(session, options, () => run('up', '--wait-timeout', '2000')),
    )
    expect(ran.exit).to.equal(6)
    expect(ran.stderr).to.match(/ `ashlar migrate` .*(process|connection) \d+/)
  })
})
