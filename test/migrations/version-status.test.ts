import { expect } from 'chai'
import { Client } from 'pg'
import { Unavailable } from '../../lib/errors.js'
import { migrate, type MigrateOptions, schemaIsCurrent } from '../../lib/migrations/index.js'
import { pendingVersions } from '../../lib/migrations/version-status.js'
import { withLock } from '../../lib/migrations/session/lock.js'
import { withSession } from '../../lib/migrations/session/session.js'
import { resolveOptions } from '../../lib/migrations/resolve-options.js'
import { failureOf, file, onEachEngine, tables } from './each-engine.js'
import { hold, untilRow, waitingForLock } from './fresh-database.js'

const RUNS = {
  postgres: file('0003_i', 'CREATE INDEX CONCURRENTLY i ON t2 (id)', 'DROP INDEX CONCURRENTLY i'),
  mysql: file('0003_i', 'ALTER TABLE t2 ADD COLUMN name varchar(9)', 'ALTER TABLE t2 DROP COLUMN name'),
}

onEachEngine('the state of a schema', (database, dialect) => {
  const optionsOf = (files: MigrateOptions['files']): MigrateOptions => ({ url: database().url, files })

  it('says of every version whether it is applied, pending, dirty, edited or ahead', async () => {
    await migrate(optionsOf(tables(2, 3, 4))).up()
    await failureOf(migrate(optionsOf({ ...tables(2, 3, 4), ...file('0005_t5', 'nonsense', '') })).up())
    const files = { ...tables(2, 3), '0003_t3.up.sql': 'SELECT 3', ...tables(9001) }
    const states = await migrate(optionsOf(files)).status()
    expect(states.map(({ name, state }) => [name, state])).to.deep.equal([
      ['0001_framework_init', 'applied'],
      ['0002_t2', 'applied'],
      ['0003_t3', 'edited'],
      ['0004_t4', 'ahead'],
      ['0005_t5', 'dirty'],
      ['8001_outbox_log', 'applied'],
      ['9001_t9001', 'pending'],
    ])
    const [applied, , , , dirty, , pending] = states
    expect(applied?.appliedAt).to.be.instanceOf(Date)
    expect(dirty?.error).to.match(/0005_t5\.up\.sql, statement 1 of 1/)
    expect(pending?.appliedAt).to.equal(undefined)
  })

  it('is verified version by version', async () => {
    await migrate(optionsOf(tables(2, 3))).up()
    if (dialect === 'postgres')
      await database().rows(
        "CREATE INDEX broken ON t2 (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass",
      )
    const files = { ...tables(2), '0002_t2.up.sql': 'SELECT 2', ...tables(9001) }
    expect(await migrate(optionsOf(files)).verify()).to.deep.equal([
      { kind: 'edited', version: '0002_t2' },
      { kind: 'ahead', version: '0003_t3' },
      { kind: 'pending', version: '9001_t9001' },
      ...(dialect === 'postgres'
        ? [{ kind: 'invalidIndex', index: 'public.broken', leftBy: undefined, isOfReindex: false }]
        : []),
    ])
  })

  it('is running, and not dirty, while a session works on it', async () => {
    const files = { ...tables(2), ...RUNS[dialect] }
    const waiting = waitingForLock(database(), dialect === 'postgres' ? 'CREATE INDEX' : 'ALTER TABLE')
    await migrate(optionsOf(tables(2))).up()
    await hold(database(), 't2')
    const run = migrate({ ...optionsOf(files), lockTimeoutMs: 60_000 }).up()
    await untilRow(database(), waiting)
    expect((await migrate(optionsOf(files)).status())[2]).to.include({ name: '0003_i', state: 'running' })
    const [difference, index, ...more] = await migrate(optionsOf(files)).verify()
    expect(difference).to.include({ kind: 'running', version: '0003_i' })
    expect(difference)
      .to.have.property('holder')
      .that.matches(/^another `ashlar migrate` /)
    expect(index).to.deep.equal(dialect === 'postgres' ? { kind: 'busyIndex', index: 'public.i' } : undefined)
    expect(more).to.deep.equal([])
    expect(await pendingVersions(optionsOf(files))).to.deep.equal(['0003_i'])
    // An image without the file takes it for what a newer one does.
    expect(await migrate(optionsOf(tables(2))).up()).to.deep.equal({ applied: [], ahead: ['0003_i'] })
    await database().rows('ROLLBACK')
    await run
    expect(await migrate(optionsOf(files)).verify()).to.deep.equal([])
  })

  if (dialect === 'postgres')
    it('is running, and not pending or applied, while a transaction works on it', async () => {
      const files = {
        ...tables(2),
        ...file('0003_c', 'ALTER TABLE t2 ADD COLUMN c bigint', 'ALTER TABLE t2 DROP COLUMN c'),
      }
      const migrator = migrate({
        ...optionsOf(files),
        lockTimeoutMs: 60_000,
        module: 'shop',
        schema: 'public',
      })
      await migrate(optionsOf(tables(2))).up()
      for (const [run, after] of [
        [() => migrator.up(), 'applied'],
        [() => migrator.down(), 'pending'],
      ] as const) {
        await hold(database(), 't2')
        const running = run()
        await untilRow(database(), waitingForLock(database(), 'ALTER TABLE'))
        const [, other, state] = await migrate(optionsOf(files)).status()
        expect(other).to.include({ state: 'applied', holder: undefined })
        expect(state).to.include({ name: '0003_c', state: 'running' })
        expect(state?.holder).to.match(
          /^another `ashlar migrate` of the module shop on \S+ \(process \d+, user \w+.*, PostgreSQL process \d+, for \d+ s\)$/,
        )
        await database().rows('ROLLBACK')
        await running
        expect((await migrate(optionsOf(files)).status())[2]).to.include({ state: after, holder: undefined })
      }
    })

  it('says of a version whether it was recorded and not run here', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    await migrate(optionsOf(tables(2))).baseline(2)
    await failureOf(migrate(optionsOf({ ...tables(2), ...file('0003_t3', 'nonsense', '-- no') })).up())
    await migrate(optionsOf(tables(2, 3))).resolve(3, 'applied')
    await migrate(optionsOf(tables(2, 3, 4))).up()
    const states = await migrate(optionsOf(tables(2, 3, 4))).status()
    expect(states.map(({ name, state, isRecorded }) => [name, state, isRecorded])).to.deep.equal([
      ['0001_framework_init', 'applied', false],
      ['0002_t2', 'applied', true],
      ['0003_t3', 'applied', true],
      ['0004_t4', 'applied', false],
      ['8001_outbox_log', 'applied', false],
    ])
  })

  it('is dirty when its run ended without a report, even while another module is migrated', async () => {
    const files = { ...tables(2), ...RUNS[dialect] }
    await migrate(optionsOf(files)).up()
    await database().rows('UPDATE ashlar_migrations SET dirty = true, error = NULL WHERE version = 3')
    const other = resolveOptions({ ...optionsOf({}), ...(dialect === 'postgres' && { schema: 'other' }) })
    const look = async () => {
      expect((await migrate(optionsOf(files)).status())[2]).to.include({ name: '0003_i', state: 'dirty' })
      const [dirty, ...more] = await migrate(optionsOf(files)).verify()
      expect(dirty).to.include({ kind: 'dirty', version: '0003_i', error: undefined, isOfTheseFiles: true })
      expect(dirty).to.have.property('unfinished').that.includes({ done: 1, of: 1, isReported: false })
      expect(more).to.deep.equal([])
    }
    if (dialect === 'postgres')
      await withSession(other, 'change', (session) => withLock(session, other, look))
    else await look()
  })

  if (dialect === 'postgres')
    for (const [what, sql, index] of [
      ['builds', 'CREATE INDEX CONCURRENTLY by_hand ON t2 (id)', 'by_hand'],
      ['rebuilds', 'REINDEX INDEX CONCURRENTLY t2_pkey', 't2_pkey_ccnew'],
      ['drops', 'DROP INDEX CONCURRENTLY there', 'there'],
    ] as const)
      it(`says of an index that a session ${what} by hand that it is worked on`, async () => {
        await migrate(optionsOf(tables(2))).up()
        await database().rows('CREATE INDEX there ON t2 (id)')
        await database().rows('CREATE INDEX broken ON t2 (id)')
        await database().rows("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass")
        await hold(database(), 't2')
        const hand = new Client(database().url)
        await hand.connect()
        const work = hand.query(sql)
        try {
          await untilRow(database(), waitingForLock(database(), sql))
          const found = await migrate(optionsOf(tables(2))).verify()
          expect(found.map((one) => [one.kind, 'index' in one ? one.index : ''])).to.have.deep.members([
            ['invalidIndex', 'public.broken'],
            ['busyIndex', `public.${index}`],
          ])
        } finally {
          await database().rows('ROLLBACK')
          await work
          await hand.end()
        }
      })

  it('is what a server waits for: it says which version is missing until it is there', async () => {
    const check = schemaIsCurrent(optionsOf(tables(2, 3)))
    await migrate(optionsOf(tables(2))).up()
    expect(await pendingVersions(optionsOf(tables(2, 3)))).to.deep.equal(['0003_t3'])
    const failure = await failureOf(check())
    expect(failure).to.be.instanceOf(Unavailable)
    expect(failure.message).to.include(' 0003_t3 ')
    await migrate(optionsOf(tables(2, 3))).up()
    await check()
    expect(await pendingVersions(optionsOf(tables(2, 3)))).to.deep.equal([])
  })

  it('is pending where a version failed, and enough where the schema is newer', async () => {
    await failureOf(migrate(optionsOf(file('0002_t2', 'nonsense', ''))).up())
    expect(await pendingVersions(optionsOf(tables(2)))).to.deep.equal(['0002_t2'])
    await migrate(optionsOf(tables(2, 3))).up()
    await schemaIsCurrent(optionsOf(tables(2)))()
    const newer = { ...tables(2, 3), ...file('0004_n', 'CREATE TABLE n (id bigint); nonsense', '-- no') }
    await failureOf(migrate(optionsOf(newer)).up())
    expect(await pendingVersions(optionsOf(tables(2, 3)))).to.deep.equal([])
    expect(await pendingVersions(optionsOf(newer))).to.deep.equal(['0004_n'])
  })

  it('is enough where a rollback failed and took nothing away', async () => {
    const files = file('0002_r', 'CREATE TABLE r (id bigint)', 'DROP TABLE r; INSERT INTO nowhere VALUES (1)')
    await migrate(optionsOf(files)).up()
    await failureOf(migrate(optionsOf(files)).down())
    // MySQL has dropped the table.
    const missing = dialect === 'postgres' ? [] : ['0002_r']
    expect(await pendingVersions(optionsOf(files))).to.deep.equal(missing)
  })

  it('says when a version was applied, which is when its file had ended', async () => {
    const files = file('0002_s', dialect === 'postgres' ? 'SELECT pg_sleep(0.3)' : 'DO SLEEP(0.3)', '-- no')
    const begin = Date.now()
    await migrate(optionsOf(files)).up()
    const [, slept] = await migrate(optionsOf(files)).status()
    expect(slept?.appliedAt?.getTime()).to.be.within(begin + 300, Date.now() + 1)
  })

  if (dialect === 'postgres')
    it('says when a version was applied, however the database writes its times', async () => {
      const begin = Date.now()
      const { name, rows } = database()
      await rows(`ALTER DATABASE ${name} SET DateStyle = 'SQL, DMY'`)
      await rows(`ALTER DATABASE ${name} SET TimeZone = 'Asia/Kathmandu'`)
      await migrate(optionsOf(tables(2))).up()
      const applied = (await migrate(optionsOf(tables(2))).status()).map(({ appliedAt }) =>
        appliedAt?.getTime(),
      )
      expect(applied[1]).to.be.within(begin - 1, Date.now() + 1)
    })
})
