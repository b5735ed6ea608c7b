import type { DataSource } from 'typeorm'
import { RequestContext } from '../../context.js'
import { Unavailable, UnknownOutcome } from '../../errors.js'
import { withRetries } from '../engines/errors/deadlock-retries.js'
import { declaredIsolation, isolationProblem } from '../engines/declared-isolation.js'
import { executorOf } from '../engines/executor-of.js'
import type { Database, Executor } from '../engines/executor/executor.js'
import { StaleStatement } from '../engines/errors/stale-statement.js'
import { TAKES_NO_WRITES } from '../engines/errors/read-only-error.js'
import { type TableIndexes, toCaller } from '../engines/errors/to-caller.js'
import { LACKS_RESOURCES } from '../engines/errors/resource-error.js'
import type { TransactionOptions } from '../contract/repository.js'
import {
  joined,
  refuseNested,
  runAfterCommit,
  surrounding,
  TransactionChain,
  watched,
} from '../contract/open-transaction.js'
import { attemptsOf } from '../contract/attempts.js'
import type { BeginOptions } from '../dialects/dialect.js'
import { LockedSnapshot } from '../engines/executor/locked-snapshot.js'
import { TransactionContext, within } from './transaction-context.js'
import { TransactionScope } from './transaction-scope.js'

/** Exported for Ashlar's own tables, which have no repository. */
export { executorOf, openDatabases } from '../engines/executor-of.js'
export { onListTime, onStatementTime } from '../engines/times/statement-times.js'
export { onDatabaseDoubt } from '../engines/executor/database-doubts.js'
export type { Database, ListedRows, Statement, Unserved } from '../engines/executor/executor.js'
export { named } from '../engines/executor/named.js'

/**
 * Runs `fn` in a transaction. Every repository call on this database inside `fn` joins it, regardless of the
 * context that the call is given. Inside another transaction of the same database it is a savepoint;
 * savepoints run one after another. The transaction remains usable after a failed operation such as a
 * conflict.
 *
 * @throws TypeError if `fn` returns before its calls have settled. They are rolled back.
 * @throws Aborted if the last attempt fails because of a deadlock or a serialization failure.
 * @example
 * ```ts
 * import { transaction } from 'ashlar'
 * import type { DataSource } from 'typeorm'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const swap = (dataSource: DataSource, widgets: WidgetRepository, a: string, b: string) =>
 *   transaction(dataSource, async () => {
 *     const [one, other] = [await widgets.get(a), await widgets.get(b)]
 *     await widgets.update(a, { size: other.size }, ['size'], { ifMatch: one.etag })
 *     await widgets.update(b, { size: one.size }, ['size'], { ifMatch: other.etag })
 *   })
 * ```
 */
export function transaction<T>(
  dataSource: DataSource,
  fn: (context: TransactionContext) => Promise<T>,
  options?: TransactionOptions,
): Promise<T>
/**
 * @internal
 * @param indexes - the indexes of the repository that begins it, so that a conflict at COMMIT can name
 *   fields.
 */
export function transaction<T>(
  on: DataSource | Database,
  fn: (context: TransactionContext) => Promise<T>,
  options?: TransactionOptions,
  indexes?: TableIndexes,
): Promise<T>
export function transaction<T>(
  on: DataSource | Database,
  fn: (context: TransactionContext) => Promise<T>,
  options: TransactionOptions = {},
  indexes?: TableIndexes,
): Promise<T> {
  try {
    const database = 'lease' in on ? on : executorOf(on)
    return watched(database, options.context, 'a transaction', run(database, fn, options, indexes))
  } catch (error) {
    return Promise.reject(error as Error)
  }
}

async function run<T>(
  database: Database,
  fn: (context: TransactionContext) => Promise<T>,
  { context: given, ...options }: TransactionOptions,
  indexes: TableIndexes | undefined,
): Promise<T> {
  const context = given ?? RequestContext.current()
  const body = (scope: TransactionScope) => within(scope, context, fn)
  const outer = current(database, given)
  const around = surrounding(given)
  if (outer instanceof TransactionScope) {
    refuseNested(options)
    return outer.perform('a transaction', () => outer.nest(around, true, body))
  }
  const { maxAttempts: _, ...settings } = options
  const maxAttempts = attemptsOf(options, 'transaction') ?? 1
  let isDone = false
  const attempt = () => {
    isDone = false
    const whole = async (scope: TransactionScope) => {
      const result = await body(scope)
      isDone = true
      return result
    }
    return begin(database, context, around, true, whole, settings, indexes)
  }
  const retried = withRetries(attempt, { maxAttempts, signal: context.end })
  const { result, afterCommit } = await retried.catch((error: unknown) => {
    throw isDone ? toCaller(error, indexes) : error
  })
  await runAfterCommit(afterCommit, context.with({ transaction: around }))
  return result
}

/** The transaction that a call joins, or the pool. */
export type Joined = Database | TransactionScope

/** Returns the executor for a call's statements: the transaction that the call joins, or the pool. */
export function current(database: Database, given?: RequestContext): Joined {
  const transaction = joined(database, given)
  return transaction instanceof TransactionScope ? transaction : database
}

/**
 * Runs several statements in a transaction, or in a savepoint of `on`. After a deadlock or a serialization
 * failure it runs them again, unless the surrounding transaction must be repeated. The first failure fails
 * all. `fn` must send statements to this database only through the given executor.
 *
 * @param settings - the settings of a transaction that begins here.
 */
export async function atomically<T>(
  on: Joined,
  context: RequestContext,
  fn: (executor: Executor) => Promise<T>,
  settings?: BeginOptions,
): Promise<T> {
  if (on instanceof TransactionScope)
    return withFreshStatements(() => on.nest(TransactionChain.of(on), false, fn))
  const attempt = () => withFreshStatements(() => begin(on, context, undefined, false, fn, settings))
  return (await withRetries(attempt, { signal: context.end })).result
}

/**
 * Runs an operation and the hooks of its entity in a transaction, or in a savepoint of `on`. Calls with the
 * context that `fn` receives join it. The executor is for the operation's own statements; if one fails, the
 * operation fails. It is repeated like `atomically`.
 */
export async function withHooks<T>(
  on: Joined,
  context: RequestContext,
  outside: TransactionChain | undefined,
  fn: (executor: Executor, inside: TransactionContext) => Promise<T>,
  settings?: BeginOptions,
): Promise<T> {
  const around = TransactionChain.ofHooks(outside)
  const body = async (scope: TransactionScope): Promise<T> => {
    const inside = new TransactionContext(context, scope)
    const result = await fn(scope.strict, inside)
    await inside.run(() => scope.beforeCommit())
    return result
  }
  try {
    if (on instanceof TransactionScope) return await withFreshStatements(() => on.nest(around, true, body))
    const attempt = () => withFreshStatements(() => begin(on, context, around, true, body, settings))
    const { result, afterCommit } = await withRetries(attempt, { signal: context.end })
    await runAfterCommit(afterCommit, context.with({ transaction: outside }))
    return result
  } finally {
    around.hookCalls?.over()
  }
}

/**
 * Repeats an attempt after a stale prepared statement. Each attempt uses fewer prepared statements, so the
 * loop ends.
 */
async function withFreshStatements<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof StaleStatement)) throw error
    }
  }
}

interface Committed<T> {
  readonly result: T
  readonly afterCommit: readonly (() => unknown)[]
}

async function begin<T>(
  database: Database,
  context: RequestContext,
  around: TransactionChain | undefined,
  isForgiving: boolean,
  body: (scope: TransactionScope) => Promise<T>,
  settings: BeginOptions = {},
  indexes?: TableIndexes,
): Promise<Committed<T>> {
  const options = { ...declared(database.dataSource), ...settings }
  const lease = await database.lease(
    context.end === undefined ? { context } : { signal: context.end, context },
  )
  const snapshot = new LockedSnapshot(database.dialect, options.isolation)
  const parents = { around, parent: undefined, isForgiving, isReadOnly: settings.readOnly === true, indexes }
  const scope = new TransactionScope(
    database,
    { lease, snapshot, ended: undefined, uses: 0, running: 0 },
    parents,
  )
  let isClean = false
  try {
    for (const statement of database.dialect.transactions.begin(options)) await lease.control(statement)
    try {
      const result = await body(scope)
      await scope.end()
      await commit(() => lease.control('COMMIT'))
      isClean = true
      return { result, afterCommit: scope.over('kept') }
    } catch (error) {
      await scope.rollBack(async () => {
        isClean = await lease.control('ROLLBACK').then(
          () => true,
          () => false,
        )
      })
      throw error
    }
  } finally {
    lease.release({ broken: !isClean })
  }
}

/**
 * Returns the isolation level that the DataSource sets for its transactions.
 *
 * @throws TypeError if the level is not supported.
 */
function declared(dataSource: DataSource): BeginOptions {
  const problem = isolationProblem(dataSource)
  if (problem !== undefined) throw new TypeError(problem)
  const isolation = declaredIsolation(dataSource)
  return isolation === undefined ? {} : { isolation }
}

/**
 * Commits the transaction. If the connection is lost meanwhile, the outcome is unknown, so the transaction is
 * not repeated.
 */
async function commit(send: () => Promise<void>): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (
      !(error instanceof Unavailable) ||
      error instanceof UnknownOutcome ||
      error.message === TAKES_NO_WRITES ||
      error.message === LACKS_RESOURCES
    )
      throw error
    throw new UnknownOutcome(
      'the connection was lost while committing: it is unknown whether the changes were saved',
      error,
    )
  }
}
