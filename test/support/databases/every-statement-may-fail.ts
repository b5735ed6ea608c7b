import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Database, Lease } from '../../../lib/persistence/engines/executor/executor.js'

/** What a lost connection or a full disk looks like to a repository: no constraint, nothing to retry. */
class InjectedFailure extends Error {
  readonly code = 'ASHLAR_INJECTED'
}

/** Far above what any operation sends. */
const MAX_STATEMENTS = 200

/**
 * Fails the 1st, 2nd, 3rd … statement of `operation` until one run sends fewer than that, and checks after
 * each failure that `invariant` holds. Answers how many statements the operation sends.
 * @param prepare - brings the database to where the operation starts from.
 * @param invariant - says `prepared` where it has seen that every row is as `prepare` left it: that need not
 * happen again.
 */
export async function everyStatementMayFail(
  dataSource: DataSource,
  prepare: () => Promise<void>,
  operation: () => Promise<unknown>,
  invariant: (outcome: 'failed' | 'succeeded') => Promise<'prepared' | void>,
): Promise<number> {
  let isPrepared = false
  for (let failing = 1; failing <= MAX_STATEMENTS; failing++) {
    if (!isPrepared) await prepare()
    const restore = failStatement(executorOf(dataSource), failing)
    const outcome = await operation().then(
      () => 'succeeded' as const,
      () => 'failed' as const,
    )
    const { sent } = restore()
    isPrepared = (await invariant(outcome)) === 'prepared'
    if (sent < failing) {
      expect(outcome).to.equal('succeeded')
      return sent
    }
  }
  return expect.fail(`more than ${MAX_STATEMENTS} statements`)
}

/** Makes the n-th statement from now on fail, transaction control included; answers how to undo that. */
function failStatement(database: Database, failing: number): () => { sent: number } {
  const { run, runAll, lease } = database
  let sent = 0
  const guarded =
    <A extends unknown[], R>(fn: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (++sent === failing) throw new InjectedFailure()
      return fn(...args)
    }
  database.run = guarded(run.bind(database))
  if (runAll !== undefined) database.runAll = guarded(runAll.bind(database))
  database.lease = async (options) => {
    const inner = await lease.call(database, options)
    const outer: Lease = {
      dialect: inner.dialect,
      run: guarded(inner.run.bind(inner)),
      // A ROLLBACK is what cleans up; the connection is thrown away when that fails, which is a case of its
      // own.
      control: (text) =>
        text === 'ROLLBACK' ? inner.control(text) : guarded(inner.control.bind(inner))(text),
      queryRunner: () => inner.queryRunner(),
      sent: guarded(inner.sent.bind(inner)) as Lease['sent'],
      release: (how) => inner.release(how),
    }
    return outer
  }
  return () => {
    database.run = run
    if (runAll !== undefined) database.runAll = runAll
    database.lease = lease
    return { sent }
  }
}
