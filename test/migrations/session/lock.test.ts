import { expect } from 'chai'
import { MigrationError } from '../../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress, type UpResult } from '../../../lib/migrations/index.js'
import { resolveOptions } from '../../../lib/migrations/resolve-options.js'
import { withLock } from '../../../lib/migrations/session/lock.js'
import { withSession } from '../../../lib/migrations/session/session.js'
import { drill, drilling } from '../../support/drill.js'
import { failureOf, file, onEachEngine, problemOf, tables } from '../each-engine.js'
import { runHost } from '../hosts/run-host.js'

const HOSTS = 20

onEachEngine('the lock', (database, dialect) => {
  const optionsOf = (
    files: MigrateOptions['files'],
    options: Partial<MigrateOptions> = {},
  ): MigrateOptions => ({
    url: database().url,
    files,
    ...options,
  })
  /** Runs `work` while another host holds the lock. */
  const whileLocked = async (work: () => Promise<void>) => {
    const options = resolveOptions(optionsOf({}, { module: 'the_other' }))
    await withSession(options, 'change', (session) => withLock(session, options, work))
  }

  it('keeps a second host waiting, which is told who holds it, and lets it go on afterwards', async () => {
    const progress: Progress[] = []
    let waiting: (() => void) | undefined
    const isWaiting = new Promise<void>((resolve) => (waiting = resolve))
    let run: Promise<UpResult> | undefined
    await whileLocked(async () => {
      const onProgress = (event: Progress) => {
        progress.push(event)
        waiting?.()
      }
      run = migrate(optionsOf(tables(2), { onProgress })).up()
      run.catch(() => undefined)
      await isWaiting
    })
    expect((await run)?.applied).to.deep.equal(['0002_t2'])
    const [first] = progress
    expect(first).to.have.property('kind', 'waiting')
    const holder = first?.kind === 'waiting' ? first.holder : ''
    expect(holder).to.match(
      dialect === 'postgres'
        ? /^another `ashlar migrate` of the module the_other on \S+ \(process \d+, user \w+.*, PostgreSQL process \d+, for \d+ s\)$/
        : /^another `ashlar migrate` \(user \w+ from .*, connection \d+\)$/,
    )
  })

  it('is waited for no longer than the wait timeout', () =>
    whileLocked(async () => {
      const failure = await failureOf(migrate(optionsOf(tables(2), { waitTimeoutMs: 60 })).up())
      expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'locked')
      expect(problemOf(failure)).to.have.property('kind', 'lockedTooLong')
      expect(problemOf(failure)).to.have.property('waitedMs').that.is.at.least(60)
    }))

  it('is not waited for any more when the caller gives up', () =>
    whileLocked(async () => {
      const controller = new AbortController()
      const options = { signal: controller.signal, onProgress: () => controller.abort() }
      expect(await failureOf(migrate(optionsOf(tables(2), options)).up())).to.have.property(
        'code',
        'CANCELLED',
      )
    }))

  it('is not needed where nothing is to be done, nor for status and verify', () =>
    whileLocked(async () => {
      const migrator = migrate(optionsOf({}, { waitTimeoutMs: 1 }))
      expect(await migrator.up()).to.deep.equal({ applied: [], ahead: [] })
      expect(await migrator.status()).to.have.length(2)
      expect(await migrator.verify()).to.deep.equal([])
    }))

  it('is waited for outside of any transaction', () =>
    whileLocked(async () => {
      if (dialect === 'mysql') return
      const seen: unknown[] = []
      const look = async () => {
        const [row] = await database().rows(
          `SELECT state, wait_event_type AS waits FROM pg_stat_activity
           WHERE application_name LIKE 'ashlar migrate waiter%' AND datname = current_database()`,
        )
        seen.push(row?.state, row?.waits)
      }
      const looked = new AbortController()
      const options = optionsOf(tables(2), {
        module: 'waiter',
        signal: looked.signal,
        onProgress: () => void look().then(() => looked.abort()),
      })
      await failureOf(migrate(options).up())
      expect(seen).to.include('idle').and.not.include('idle in transaction').and.not.include('Lock')
    }))

  const files = {
    ...tables(2, 3, 4),
    ...(dialect === 'postgres'
      ? file('0005_i', 'CREATE INDEX CONCURRENTLY i ON t2 ((id + 1))', 'DROP INDEX CONCURRENTLY i')
      : file('0005_i', 'CREATE INDEX i ON t2 (id)', 'DROP INDEX i ON t2')),
    ...file('0006_r', 'INSERT INTO t2 VALUES (1)', 'DELETE FROM t2'),
  }
  const versions = ['0002_t2', '0003_t3', '0004_t4', '0005_i', '0006_r']

  it(`lets one of ${HOSTS} hosts apply while the others wait and find the schema current`, async () => {
    for (let round = 0; round < drill(2, 20); round++) {
      const runs = await Promise.all(Array.from({ length: HOSTS }, () => upOnHost(optionsOf(files))))
      const working = runs.filter(({ applied }) => applied.length > 0)
      expect(working).to.deep.equal([{ applied: versions, ahead: [] }])
      expect(await database().rows('SELECT count(*) AS n FROM t2')).to.deep.equal([
        { n: dialect === 'postgres' ? '1' : 1 },
      ])
      expect(await migrate(optionsOf(files)).verify()).to.deep.equal([])
      await migrate(optionsOf(files)).down(1)
    }
  })
})

/** In a process of its own in the drill, else on a connection of its own. */
async function upOnHost(options: MigrateOptions): Promise<UpResult> {
  if (!drilling) return migrate(options).up()
  const report = await runHost({ options })
  expect(report?.failure).to.equal(undefined)
  return report?.result as UpResult
}
