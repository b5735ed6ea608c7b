import type { DataSource } from 'typeorm'
import { RequestContext } from '../../context.js'
import { Unavailable } from '../../errors.js'
import { withRetries } from '../engines/errors/constraint-error.js'
import { executorOf } from '../engines/database-of.js'
import type { Database, Executor } from '../engines/executor/executor.js'
import { StaleStatement } from '../engines/errors/stale-statement.js'
import { TAKES_NO_WRITES } from '../engines/errors/read-only-error.js'
import type { TransactionOptions } from '../contract/repository.js'
import { TransactionScope } from './transaction-scope.js'

/** For the framework's own tables, whose statements are no repository's. */
export { executorOf } from '../engines/database-of.js'
export type { Database, Statement } from '../engines/executor/executor.js'
export { named } from '../engines/executor/named-statement.js'

/**
 * Runs `fn` in a transaction, which every repository of this database joins through the current context (or the one
 * handed to `fn`). Inside of another transaction of the same database it is a savepoint, and such ones run one after
 * another. An operation that failed inside, with a conflict say, leaves the transaction usable.
 * @throws Aborted after a deadlock or a serialization failure, when the retries ran out.
 */
export async function transaction<T>(
  on: DataSource | Database,
  fn: (context: RequestContext) => Promise<T>,
  { retries = 0, context = RequestContext.current() }: TransactionOptions = {},
): Promise<T> {
  const database = 'lease' in on ? on : executorOf(on)
  const body = (scope: TransactionScope) => {
    const inside = context.with({ transaction: scope })
    return inside.run(() => fn(inside))
  }
  const parent = scopeOf(database, context)
  if (parent !== undefined) return parent.nest(surrounding(context), true, body)
  return withRetries(() => begin(database, context, true, body), { retries, signal: context.signal })
}

/** Where a statement of this call goes: the transaction of its context when that is of this database, else the pool. */
export function current(database: Database, context: RequestContext = RequestContext.current()): Executor {
  return scopeOf(database, context) ?? database
}

/**
 * Runs several statements as one: in a transaction, or in a savepoint of the context's. Retried after a deadlock or a
 * serialization failure, unless the surrounding transaction has to do that. The first failure fails all; nothing is sent
 * to this database but through the executor handed to `fn`.
 */
export async function atomically<T>(
  database: Database,
  context: RequestContext,
  fn: (executor: Executor) => Promise<T>,
): Promise<T> {
  const parent = scopeOf(database, context)
  if (parent !== undefined) return withFreshStatements(() => parent.nest(surrounding(context), false, fn))
  const attempt = () => withFreshStatements(() => begin(database, context, false, fn))
  return withRetries(attempt, { signal: context.signal })
}

/** Each time fewer statements are held to be prepared, so that this comes to an end. */
async function withFreshStatements<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof StaleStatement)) throw error
    }
  }
}

async function begin<T>(
  database: Database,
  context: RequestContext,
  isForgiving: boolean,
  body: (scope: TransactionScope) => Promise<T>,
): Promise<T> {
  const lease = await database.lease(context.signal === undefined ? {} : { signal: context.signal })
  const parents = { around: surrounding(context), parent: undefined, isForgiving }
  const scope = new TransactionScope(database, { lease, ended: undefined }, parents)
  let isClean = false
  try {
    await lease.control(database.dialect.begin)
    try {
      const result = await body(scope)
      await scope.end()
      await commit(() => lease.control('COMMIT'))
      isClean = true
      return result
    } catch (error) {
      await scope.end().catch(() => {})
      isClean = await lease.control('ROLLBACK').then(
        () => true,
        () => false,
      )
      throw error
    }
  } finally {
    lease.release({ broken: !isClean })
  }
}

/** When the connection goes meanwhile, nobody knows what became of the commit, so it is not simply tried again. */
async function commit(send: () => Promise<void>): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (!(error instanceof Unavailable) || error.message === TAKES_NO_WRITES) throw error
    throw new Unavailable(
      'the connection was lost while committing: whether the changes are saved is not known',
      error,
    )
  }
}

const surrounding = ({ transaction: around }: RequestContext): TransactionScope | undefined =>
  around instanceof TransactionScope ? around : undefined

const scopeOf = (database: Database, context: RequestContext): TransactionScope | undefined =>
  surrounding(context)?.of(database)
