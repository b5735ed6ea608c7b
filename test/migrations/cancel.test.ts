import { expect } from 'chai'
import { MigrationError } from '../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress } from '../../lib/migrations/index.js'
import { startPooler } from './postgres/pooler.js'
import { storedText } from '../../lib/migrations/session/step.js'
import { withMarks } from '../../lib/migrations/session/version-table.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'
import { hold, untilRow, waitingForLock } from './fresh-database.js'

onEachEngine('a run that its caller gives up', (database, dialect) => {
  const LONG = { lockTimeoutMs: 3_600_000, statementTimeoutMs: 3_600_000, concurrentTimeoutMs: 3_600_000 }
  const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files, ...LONG, ...options })
  const waits = (statement: string) => database().rows(waitingForLock(database(), statement))

  /** Gives up when the server says that `statement` waits for `held`, and returns the failure. */
  const givenUp = async (
    files: MigrateOptions['files'],
    statement: string,
    run: 'up' | 'down' = 'up',
    options: Partial<MigrateOptions> = {},
  ): Promise<Error> => {
    const ending = new AbortController()
    const { signal } = ending
    const running = migrator(files, { ...options, signal })
    const failure = failureOf(run === 'up' ? running.up() : running.down(2))
    await untilRow(database(), waitingForLock(database(), statement))
    ending.abort()
    return failure
  }
  const expectCancelled = (failure: Error, file: string, statement: number, of = 2): void => {
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'cancelled')
    expect(failure).to.have.property('code', 'CANCELLED')
    const problem = problemOf(failure)
    expect(problem).to.deep.include({ file, advice: { kind: 'cancelled' }, mend: 'nothing' })
    expect(problem?.['place']).to.deep.equal({ statement, of, line: statement })
  }

  const WIDER = file(
    '0003_wider',
    'CREATE TABLE made (id bigint);\nALTER TABLE t2 ADD COLUMN name varchar(9)',
    'ALTER TABLE t2 DROP COLUMN name;\nDROP TABLE made',
  )

  it('has the statement stopped on the server, and goes on in the next run', async () => {
    await migrator(tables(2)).up()
    await hold(database(), 't2')
    const files = { ...tables(2), ...WIDER }
    expectCancelled(await givenUp(files, 'ALTER TABLE t2'), '0003_wider.up.sql', 2)
    // The session that held it back is still there: nothing else ended the statement.
    expect(await waits('ALTER TABLE t2')).to.deep.equal([])
    const [, , state] = await migrator(files).status()
    expect(state).to.include({ state: dialect === 'postgres' ? 'pending' : 'dirty' })
    expect(await database().tables()).to[dialect === 'postgres' ? 'not' : 'be'].include('made')
    await database().rows('ROLLBACK')
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_wider'])
    expect(await migrator(files).verify()).to.deep.equal([])
  })

  it('in the down migration leaves what the next run, up or down, goes on from', async () => {
    const files = { ...tables(2), ...WIDER }
    for (const next of ['up', 'down'] as const) {
      await migrator(files).up()
      await hold(database(), 't2')
      expectCancelled(await givenUp(files, 'ALTER TABLE t2', 'down'), '0003_wider.down.sql', 1)
      await database().rows('ROLLBACK')
      if (next === 'up') await migrator(files).up()
      else expect((await migrator(files).down(2)).rolledBack).to.deep.equal(['0003_wider'])
      expect(await migrator(next === 'up' ? files : tables(2)).verify()).to.deep.equal([])
    }
  })

  it('replaces the error of a file that failed before, and that is right now', async () => {
    await migrator(tables(2)).up()
    await failureOf(migrator({ ...tables(2), ...file('0003_wider', 'nonsense', '') }).up())
    await hold(database(), 't2')
    const failure = await givenUp({ ...tables(2), ...WIDER }, 'ALTER TABLE t2')
    expectCancelled(failure, '0003_wider.up.sql', 2)
    const [, , state] = await migrator({ ...tables(2), ...WIDER }).status()
    expect(state).to.include({ state: 'dirty' }).and.not.have.property('isEditedSince')
    const marks = { isCancelled: true, mayBeDone: false }
    expect(withMarks(state?.error ?? '', marks)).to.equal(storedText(failure as MigrationError))
  })

  if (dialect === 'mysql')
    for (const [what, sql] of [
      ['DO SLEEP', 'DO SLEEP(60)'],
      ['SELECT SLEEP', 'SELECT SLEEP(60)'],
      ['SET', 'SET @slept = SLEEP(60)'],
    ] as const)
      it(`does not take ${what} for done, which returns without an error when it is stopped`, async () => {
        const files = {
          ...tables(2),
          ...file('0003_sleep', `CREATE TABLE made (id bigint);\n${sql}`, 'DROP TABLE made'),
        }
        const ending = new AbortController()
        const failure = failureOf(migrator(files, { signal: ending.signal }).up())
        await untilRow(
          database(),
          `SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE = 'User sleep'`,
        )
        ending.abort()
        expectCancelled(await failure, '0003_sleep.up.sql', 2)
        expect((await migrator(files).status())[2]).to.include({ name: '0003_sleep', state: 'dirty' })
        // What is done is not repeated: the table is there.
        const quick = { ...files, '0003_sleep.up.sql': 'CREATE TABLE made (id bigint);\nDO SLEEP(0)' }
        expect((await migrator(quick).up()).applied).to.deep.equal(['0003_sleep'])
        const slow = { ...quick, ...file('0004_slow', 'DO SLEEP(60)', '-- nothing') }
        const timedOut = await failureOf(migrator(slow, { statementTimeoutMs: 500 }).up())
        expect(problemOf(timedOut)?.['advice']).to.deep.equal({ kind: 'statementTimeout', ms: 500 })
      })

  it('between two statements sends no further one', async () => {
    const ending = new AbortController()
    const onProgress = (event: Progress) => {
      if (event.kind === 'statement' && event.step === 'ended') ending.abort()
    }
    const files = { ...tables(2), ...WIDER }
    await migrator(tables(2)).up()
    const failure = await failureOf(migrator(files, { signal: ending.signal, onProgress }).up())
    expect(failure).to.have.property('stop', 'cancelled')
    expect(problemOf(failure)).to.deep.include({
      ...{ file: '0003_wider.up.sql', place: { statement: 2, of: 2, line: 2 } },
      ...{ advice: { kind: 'notSent' }, mend: 'nothing' },
    })
  })

  it('before a file says which one was not begun', async () => {
    const ending = new AbortController()
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'done') ending.abort()
    }
    const failure = await failureOf(migrator(tables(2, 3), { signal: ending.signal, onProgress }).up())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'cancelled')
    expect(problemOf(failure)).to.deep.equal({ kind: 'cancelledBefore', version: '0003_t3' })
    expect((await migrator(tables(2, 3)).up()).applied).to.deep.equal(['0003_t3'])
  })

  it('does not touch the database when it was given up before it began', async () => {
    const failure = await failureOf(migrator(tables(2), { signal: AbortSignal.abort() }).up())
    expect(failure).to.have.property('stop', 'cancelled')
    expect(await migrator(tables(2)).status()).to.have.nested.property('[1].state', 'pending')
  })

  if (dialect === 'mysql') return

  const INDEX = file('0003_i', 'CREATE INDEX CONCURRENTLY i ON t2 (id)', 'DROP INDEX CONCURRENTLY i')

  it('leaves an index that was being built to the next run, which drops it first', async () => {
    await migrator(tables(2)).up()
    await hold(database(), 't2')
    const files = { ...tables(2), ...INDEX }
    const failure = await givenUp(files, 'CREATE INDEX CONCURRENTLY')
    expectCancelled(failure, '0003_i.up.sql', 1, 1)
    expect(problemOf(failure)?.['remains']).to.deep.equal({ kind: 'index' })
    await database().rows('ROLLBACK')
    const [, , stored] = await migrator(files).status()
    expect(stored).to.include({ state: 'dirty' })
    const marks = { isCancelled: true, mayBeDone: false }
    expect(withMarks(stored?.error ?? '', marks)).to.equal(storedText(failure as MigrationError))
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_i'])
    expect(await migrator(files).verify()).to.deep.equal([])
  })

  it('while it drops what an earlier run left behind stops that as well', async () => {
    await migrator(tables(2)).up()
    await hold(database(), 't2')
    const files = { ...tables(2), ...INDEX }
    await givenUp(files, 'CREATE INDEX CONCURRENTLY')
    expect(await givenUp(files, 'DROP INDEX CONCURRENTLY')).to.have.property('stop', 'cancelled')
    await database().rows('ROLLBACK')
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_i'])
  })

  it('has it stopped through a pooler in session mode', async () => {
    await migrator(tables(2)).up()
    await hold(database(), 't2')
    const pooler = await startPooler(database().url, 'session')
    try {
      const files = { ...tables(2), ...WIDER }
      const failure = await givenUp(files, 'ALTER TABLE t2', 'up', { url: pooler.url })
      expectCancelled(failure, '0003_wider.up.sql', 2)
    } finally {
      await pooler.close()
    }
  })
})
