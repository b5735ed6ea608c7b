import { expect } from 'chai'
import { DeclarationError, MigrationError } from '../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress } from '../../lib/migrations/index.js'
import { BASELINE } from './fresh-database.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

const withBaseline = (...names: readonly string[]): readonly string[] => [...BASELINE, ...names].sort()

onEachEngine('a run of migrations', (database, dialect) => {
  const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files, ...options })

  it('finds nothing to do when everything is applied', async () => {
    await migrator(tables(2)).up()
    const progress: Progress[] = []
    const again = migrator(tables(2), { onProgress: (event) => progress.push(event) })
    expect(await again.up()).to.deep.equal({ applied: [], ahead: [] })
    expect(progress).to.deep.equal([])
  })

  it('keeps one row for each version with its SQL, its checksum and no error', async () => {
    const files = file('0002_a', 'CREATE TABLE a (id bigint);\n\nINSERT INTO a VALUES (1);', 'DROP TABLE a')
    await migrator(files).up()
    const [row] = await database().rows('SELECT * FROM ashlar_migrations WHERE version = 2')
    expect(row).to.include({ version: 2, name: '0002_a', statements_done: 2, error: null })
    expect(row).to.include({ up_sql: files['0002_a.up.sql'], down_sql: 'DROP TABLE a' })
    expect(Boolean(row?.dirty)).to.equal(false)
    expect(row?.checksum).to.match(/^[0-9a-f]{64}$/)
    expect(row?.applied_at).to.be.instanceOf(Date)
  })

  it('runs 0006 that arrives after 9002', async () => {
    const generated = { ...file('9001_x', 'CREATE TABLE x (id bigint)', 'DROP TABLE x'), ...tables(9002) }
    await migrator({ ...tables(2, 3, 4, 5), ...generated }).up()
    const all = { ...tables(2, 3, 4, 5, 6), ...generated }
    expect((await migrator(all).up()).applied).to.deep.equal(['0006_t6'])
    expect(await migrator(all).verify()).to.deep.equal([])
  })

  it('refuses an applied file that was edited, naming both checksums, and changes nothing', async () => {
    await migrator(tables(2)).up()
    const [{ checksum } = {}] = await database().rows(
      'SELECT checksum FROM ashlar_migrations WHERE version = 2',
    )
    const edited = { ...tables(2, 3), '0002_t2.up.sql': 'CREATE TABLE t2 (id bigint, other text)' }
    const failure = await failureOf(migrator(edited).up())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'edited')
    const [found] = problemOf(failure)?.['files'] as readonly Record<string, unknown>[]
    const applied = String(checksum).slice(0, 12)
    expect(found).to.include({ version: '0002_t2', file: '0002_t2.up.sql', isRenamed: false, applied })
    expect(found?.['now']).to.match(/^[0-9a-f]{12}$/)
    expect(await database().tables()).to.not.include('t3')
  })

  it('refuses bad files without a database, too', async () => {
    const url = database().url.replace(/\/[^/]*$/, '/not_there')
    expect(await failureOf(migrate({ url, files: file('0002_b', 'COMMIT', '') }).up())).to.be.instanceOf(
      DeclarationError,
    )
  })

  it('refuses a version without a down migration', async () => {
    const failure = await failureOf(migrator(file('0002_b', 'CREATE TABLE b (id bigint)')).up())
    expect(problemOf(failure)).to.include({ kind: 'refused', file: '0002_b.down.sql', line: 1 })
  })

  it('leaves versions of a newer release alone and names them', async () => {
    await migrator(tables(2, 3)).up()
    expect(await migrator(tables(2)).up()).to.deep.equal({ applied: [], ahead: ['0003_t3'] })
    expect(await database().tables()).to.include('t3')
  })

  it('rolls back every version above the one it is told, the last first', async () => {
    await migrator(tables(2, 3, 4)).up()
    expect(await migrator(tables(2, 3, 4)).down(2)).to.deep.equal({ rolledBack: ['0004_t4', '0003_t3'] })
    expect(await database().tables()).to.deep.equal(withBaseline('t2'))
  })

  it('rolls back in the order opposite to the one of applying', async () => {
    await migrator({ ...tables(2), ...tables(9001) }).up()
    const all = { ...tables(2, 3), ...tables(9001) }
    await migrator(all).up()
    expect((await migrator(all).down(2)).rolledBack).to.deep.equal(['0003_t3', '9001_t9001'])
  })

  it('rolls back by the stored SQL when the image has neither file any more', async () => {
    await migrator(tables(2, 3)).up()
    expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0003_t3', '0002_t2'])
    expect(await database().tables()).to.deep.equal(BASELINE)
  })

  it('rolls back by the stored SQL when the image has the up migration alone', async () => {
    await migrator(tables(2)).up()
    const files = { '0002_t2.up.sql': tables(2)['0002_t2.up.sql'] ?? '' }
    expect((await migrator(files).down(1)).rolledBack).to.deep.equal(['0002_t2'])
    expect(await database().tables()).to.deep.equal(BASELINE)
  })

  it('keeps a down migration that was corrected after the version was applied', async () => {
    await migrator({ ...tables(2), '0002_t2.down.sql': 'DROP TABLE wrong' }).up()
    await migrator(tables(2)).up()
    expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0002_t2'])
  })

  it('refuses to roll back with files that have another version under the same number', async () => {
    await migrator(tables(2)).up()
    const other = file('0002_other', 'CREATE TABLE other (id bigint)', 'DROP TABLE other')
    const failure = await failureOf(migrator(other).down(1))
    expect(failure).to.include({ stop: 'edited' })
    expect(problemOf(failure)).to.include({ kind: 'otherName', version: '0002_t2', name: '0002_other' })
    expect(await database().tables()).to.deep.equal([...BASELINE, 't2'].sort())
  })

  it('rolls an empty down migration back without a statement', async () => {
    await migrator(file('0002_a', "INSERT INTO tenant_event_seq VALUES ('a', 1)", '-- rows stay')).up()
    expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0002_a'])
  })

  it('refuses to roll back to a version that is not applied', async () => {
    await migrator(tables(2)).up()
    const failure = await failureOf(migrator(tables(2)).down(7))
    expect(failure).to.be.instanceOf(RangeError)
    expect(problemOf(failure)).to.deep.equal({ kind: 'notApplied', number: 7, applied: [1, 8001, 2] })
  })

  it('bounds a file by its own timeouts, whatever the file before it has set', async () => {
    const [lock, statement] =
      dialect === 'postgres'
        ? ["current_setting('lock_timeout')", "current_setting('statement_timeout')"]
        : ['@@lock_wait_timeout', '@@innodb_lock_wait_timeout']
    const change = dialect === 'postgres' ? 'SET lock_timeout = 0' : 'SET lock_wait_timeout = 1000'
    const look = `CREATE TABLE seen (a text, b text); INSERT INTO seen SELECT ${lock}, ${statement}`
    await migrator({ ...file('0002_a', change, ''), ...file('0003_b', look, '') }).up()
    expect(await database().rows('SELECT a, b FROM seen')).to.deep.equal([
      dialect === 'postgres' ? { a: '2s', b: '1min' } : { a: '2', b: '2' },
    ])
    await migrator({}).down(2)
    await database().rows('DROP TABLE seen')
    const own = { ...file('0002_a', change, ''), ...file('0003_b', look, '') }
    await migrator(own, { lockTimeoutMs: 5_000, statementTimeoutMs: 7_000 }).up()
    expect(await database().rows('SELECT a, b FROM seen')).to.deep.equal([
      dialect === 'postgres' ? { a: '5s', b: '7s' } : { a: '5', b: '5' },
    ])
  })

  it('ends a statement that runs for longer than the statement timeout', async () => {
    const sleep =
      dialect === 'postgres'
        ? 'SELECT pg_sleep(600)'
        : 'ALTER TABLE slow ADD COLUMN b int DEFAULT (SLEEP(600))'
    const slow = dialect === 'postgres' ? 'SELECT 1' : 'CREATE TABLE slow AS SELECT SLEEP(600) AS a'
    const files = file('0002_a', dialect === 'postgres' ? sleep : slow, '')
    const failure = await failureOf(migrator(files, { statementTimeoutMs: 300 }).up())
    expect(problemOf(failure)).to.deep.include({
      ...{ file: '0002_a.up.sql', advice: { kind: 'statementTimeout', ms: 300 } },
    })
    expect(await migrator(tables(2)).up()).to.deep.equal({ applied: ['0002_t2'], ahead: [] })
  })

  it('waits for a lock no longer than the lock timeout, and says what to do', async () => {
    await migrator(tables(2)).up()
    await database().rows(dialect === 'postgres' ? 'BEGIN' : 'START TRANSACTION')
    await database().rows('SELECT * FROM t2')
    const files = { ...tables(2), ...file('0003_a', 'ALTER TABLE t2 ADD COLUMN a bigint', '') }
    const failure = await failureOf(migrator(files, { lockTimeoutMs: 100 }).up())
    expect(problemOf(failure)).to.have.nested.include({
      ...{ file: '0003_a.up.sql', 'advice.kind': 'lockTimeout', 'advice.ms': 100, isBlocked: true },
    })
    await database().rows('COMMIT')
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_a'])
  })

  it('keeps passwords and values out of what it says and stores', async () => {
    const files = file(
      '0002_a',
      "CREATE TABLE a (b varchar(99) PRIMARY KEY); INSERT INTO a VALUES ('hunter22'), ('hunter22')",
      '',
    )
    const url = new URL(database().url)
    url.password = 'pa55word'
    const failure = await failureOf(migrate({ url: url.href, files }).up().catch(noPassword(files)))
    const [row] = await database()
      .rows('SELECT error FROM ashlar_migrations WHERE version = 2')
      .catch(() => [])
    for (const text of [failure.message, failure.stack ?? '', JSON.stringify(failure), String(row?.error)]) {
      expect(text).to.not.include('hunter22')
      expect(text).to.not.include('pa55word')
    }
    expect(failure).to.not.have.property('cause')
  })

  it('keeps the values of rows out of the error of a change, and asks for other rows', async () => {
    const change =
      dialect === 'postgres'
        ? 'ALTER TABLE a ALTER COLUMN b TYPE bigint USING b::bigint'
        : 'UPDATE a SET n = CAST(b AS SIGNED)'
    const made = file('0002_a', 'CREATE TABLE a (b varchar(99) PRIMARY KEY, n bigint)', 'DROP TABLE a')
    await migrator(made).up()
    await database().rows("INSERT INTO a (b) VALUES ('ada@example.com')")
    const failure = await failureOf(migrator({ ...made, ...file('0003_n', change, '-- no') }).up())
    const [row] = await database().rows('SELECT error FROM ashlar_migrations WHERE version = 3')
    for (const text of [failure.message, String(row?.error)])
      expect(text)
        .to.match(/(bigint|INTEGER).* \((22P02|1292)\)/)
        .and.not.include('example')
    expect(problemOf(failure)).to.have.nested.include({ mend: 'rows', 'place.line': 1 })
  })

  const noPassword = (files: MigrateOptions['files']) => async (refused: unknown) => {
    // A server that asks for no password may still refuse a wrong one.
    expect(String(refused)).to.not.include('pa55word')
    await migrator(files).up()
  }

  it('stops between two files when it is told to', async () => {
    const controller = new AbortController()
    const options = {
      signal: controller.signal,
      onProgress: (event: Progress) => {
        if (event.kind === 'done' && event.version === '0002_t2') controller.abort()
      },
    }
    expect(await failureOf(migrator(tables(2, 3), options).up())).to.have.property('code', 'CANCELLED')
    expect(await database().tables())
      .to.include('t2')
      .and.not.include('t3')
  })

  it('tells each file and each statement as it goes on', async () => {
    await migrator({}).up()
    const progress: Progress[] = []
    await migrator(tables(2), { onProgress: (event) => progress.push(event) }).up()
    expect(progress.map((event) => ({ ...event, ms: 0 }))).to.deep.equal(
      [
        { kind: 'file', direction: 'up', version: '0002_t2', statements: 1 },
        ...(['started', 'ended'] as const).map((step) => ({
          ...{ kind: 'statement', step, version: '0002_t2', number: 1, of: 1 },
          summary: 'CREATE TABLE t2 (id bigint PRIMARY KEY)',
        })),
        { kind: 'done', direction: 'up', version: '0002_t2' },
      ].map((event) => ({ ...event, ms: 0 })),
    )
  })

  it('says that there is no connection without the connection string', async () => {
    const url = new URL(database().url)
    url.port = '1'
    url.password = 'pa55word'
    const failure = await failureOf(migrate({ url: url.href, files: {} }).up())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'connection')
    expect(problemOf(failure)).to.have.nested.include({
      ...{ kind: 'noConnection', 'address.server': '127.0.0.1:1', 'address.name': database().name },
    })
    expect(failure.message).to.not.include('pa55word')
  })
})

onEachEngine(
  'the first run of migrations',
  (database) => {
    const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })

    it('makes the baseline tables, with event_seq and event_epoch in the outbox, and then the module’s own', async () => {
      expect((await migrator(tables(2)).up()).applied).to.deep.equal([
        ...['0001_framework_init', '0002_t2', '8001_outbox_log'],
      ])
      expect(await database().tables()).to.deep.equal(withBaseline('t2'))
      await database().rows('SELECT event_seq, event_epoch FROM outbox')
    })

    it('refuses a bad file before it changes anything, even behind good ones', async () => {
      const files = { ...tables(2), ...file('0003_b', 'BEGIN; CREATE TABLE b (id bigint); COMMIT', '') }
      const failure = await failureOf(migrator(files).up())
      expect(failure).to.be.instanceOf(DeclarationError)
      expect(problemOf(failure)).to.include({
        ...{ kind: 'refused', file: '0003_b.up.sql', line: 1, rule: 'transaction-control' },
      })
      expect(await database().tables()).to.deep.equal([])
    })

    it('rolls everything back to 0, the baseline too, and can start again', async () => {
      await migrator(tables(2)).up()
      await migrator(tables(2)).down(0)
      expect(await database().tables()).to.deep.equal(['ashlar_migrations'])
      expect((await migrator(tables(2)).up()).applied).to.have.length(3)
    })
  },
  { empty: true },
)

onEachEngine(
  'a module',
  (database) => {
    const migrator = (module: string, files: MigrateOptions['files']) =>
      migrate({ url: database().url, module, files })

    it('has a schema, a baseline and a version table of its own', async () => {
      await migrator('orders', tables(2)).up()
      expect(await database().tables('orders')).to.deep.equal(withBaseline('t2'))
      expect(await database().tables()).to.deep.equal([])
      await migrator('Stock "x"', tables(2, 3)).up()
      expect(await database().tables('Stock "x"')).to.deep.equal(withBaseline('t2', 't3'))
      expect(await database().rows('SELECT max(version) AS v FROM orders.ashlar_migrations')).to.deep.equal([
        { v: 8001 },
      ])
    })

    it('finds no table of another schema by an unqualified name', async () => {
      await database().rows('CREATE TABLE public.precious (id bigint)')
      const failure = await failureOf(migrator('orders', file('0002_a', 'DROP TABLE precious', '')).up())
      expect(failure.message).to.match(/"precious" does not exist/)
      expect(await database().tables()).to.deep.equal(['precious'])
    })

    it('runs each file in its schema, whatever the file before it has set', async () => {
      const files = { ...file('0002_a', 'SET search_path = public; SET ROLE postgres', ''), ...tables(3) }
      await migrator('orders', files).up()
      expect(await database().tables('orders')).to.include('t3')
      expect(await database().tables()).to.deep.equal([])
    })

    it('calls itself by its name on the server', async () => {
      const files = file('0002_a', "CREATE TABLE a AS SELECT current_setting('application_name') AS name", '')
      await migrator('orders', files).up()
      const [row] = await database().rows('SELECT name FROM orders.a')
      expect(row?.name).to.match(/^ashlar migrate up 0002 orders /)
    })

    it('runs a file in one transaction with its row', async () => {
      const files = file('0002_a', 'CREATE TABLE a (id bigint); INSERT INTO a VALUES (1); SELECT 1 / 0', '')
      await failureOf(migrator('public', files).up())
      // The upgrades of the framework come after the module's own.
      const first = BASELINE.filter((table) => table !== 'outbox_leases')
      expect(await database().tables()).to.deep.equal(first)
    })
  },
  { dialects: ['postgres'], empty: true },
)
