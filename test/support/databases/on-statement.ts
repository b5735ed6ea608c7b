import type { Database, Lease } from '../../../lib/persistence/engines/executor/executor.js'

/**
 * Calls `seen` with 1, 2, 3 … immediately after each statement, including transaction control, was passed to
 * the driver and before it is answered.
 */
export function onStatement(database: Database, seen: (count: number) => void): void {
  const { run, runAll, lease } = database
  let count = 0
  const watched =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const answer = send(...args)
      seen(++count)
      return answer
    }
  database.run = watched(run.bind(database))
  if (runAll !== undefined) database.runAll = watched(runAll.bind(database))
  database.lease = async (options) => {
    const inner = await lease.call(database, options)
    const outer: Lease = {
      dialect: inner.dialect,
      run: watched(inner.run.bind(inner)),
      control: watched(inner.control.bind(inner)),
      queryRunner: () => inner.queryRunner(),
      sent: watched(inner.sent.bind(inner)) as Lease['sent'],
      release: (how) => inner.release(how),
    }
    return outer
  }
}
