import { expect } from 'chai'
import { MigrationError } from '../../lib/errors.js'
import { withLock } from '../../lib/migrations/session/lock.js'
import { migrate, type MigrateOptions, type Progress } from '../../lib/migrations/index.js'
import { withSession } from '../../lib/migrations/session/session.js'
import { resolveOptions } from '../../lib/migrations/resolve-options.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'
import { hold, killSessions, untilRow, waitingForLock } from './fresh-database.js'

onEachEngine('a session that somebody ends', (database, dialect) => {
  const optionsOf = (
    files: MigrateOptions['files'],
    options: Partial<MigrateOptions> = {},
  ): MigrateOptions => ({ url: database().url, files, ...options })

  it('while it waits for another host says that the connection is lost, and to run again', async () => {
    let killed: Promise<void> | undefined
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'waiting') killed ??= killSessions(database(), { except: holder })
    }
    let holder = 0
    const other = resolveOptions({ url: database().url, files: {}, module: 'the_other' })
    const failure = await withSession(other, 'change', (session) =>
      withLock(session, other, async () => {
        const [row] = await session.rows(
          dialect === 'postgres' ? 'SELECT pg_backend_pid() AS id' : 'SELECT CONNECTION_ID() AS id',
        )
        holder = Number(row?.id)
        return failureOf(migrate(optionsOf(tables(2), { onProgress })).up())
      }),
    )
    await killed
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'connection')
    expect(problemOf(failure)).to.deep.include({ kind: 'serverRefused', advice: { kind: 'connectionLost' } })
    expect((await migrate(optionsOf(tables(2))).up()).applied).to.deep.equal(['0002_t2'])
  })

  it('in the middle of a statement says so, and the next run goes on from there', async () => {
    await database().rows('CREATE TABLE kept (id bigint)')
    await hold(database(), 'kept')
    const files = {
      ...tables(2),
      ...file('0003_a', 'ALTER TABLE kept ADD COLUMN name varchar(9)', ''),
    }
    const run = failureOf(migrate(optionsOf(files, { lockTimeoutMs: 60_000 })).up())
    await untilRow(database(), waitingForLock(database(), 'ALTER TABLE kept'))
    await killSessions(database(), { except: 0 })
    const failure = await run
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'connection')
    expect(problemOf(failure)).to.deep.include({
      ...{ file: '0003_a.up.sql', place: { statement: 1, of: 1, line: 1 } },
      ...{ advice: { kind: 'connectionLost' }, mend: 'nothing' },
    })
    await database().rows('ROLLBACK')
    expect((await migrate(optionsOf(files)).up()).applied).to.deep.equal(['0003_a'])
    expect(await migrate(optionsOf(files)).verify()).to.deep.equal([])
  })
})
