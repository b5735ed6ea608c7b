import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Database, Lease } from '../../../lib/persistence/engines/executor/executor.js'

/**
 * A failure that is like a lost connection or a full disk to a repository: neither a constraint nor
 * retryable.
 */
class InjectedFailure extends Error {
  readonly code = 'ASHLAR_INJECTED'
}

/** Far more statements than any operation sends. */
const MAX_STATEMENTS = 200

/**
 * Fails the 1st, 2nd, 3rd … statement of `operation` until a run sends fewer statements, and checks
 * `invariant` after each failure. Returns the number of statements that the operation sends.
 *
 * @param prepare - restores the database's state before the operation.
 * @param invariant - returns `prepared` if every row is as `prepare` left it, so that `prepare` need not
 *   run again.
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

/**
 * Makes the n-th statement from now on fail, including transaction control. Returns a function that reverts
 * this.
 */
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
      // A ROLLBACK cleans up and does not fail here. If it fails, the connection is closed, which other tests
      // cover.
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
