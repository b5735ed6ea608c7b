import type { EntityManager } from 'typeorm'
import { RequestContext } from '../../context.js'
import { TransactionChain } from '../contract/open-transaction.js'
import type { TransactionScope } from './transaction-scope.js'

/**
 * The context inside of a transaction on a database: the context of the call, with TypeORM's `manager` and
 * `sql` inside of the transaction.
 */
export class TransactionContext extends RequestContext {
  readonly #scope: TransactionScope

  constructor(context: RequestContext, scope: TransactionScope) {
    super(RequestContext.fieldsOf(context, { transaction: TransactionChain.of(scope) }))
    this.#scope = scope
    Object.freeze(this)
  }

  /**
   * TypeORM's EntityManager inside of the transaction: its writes are committed or rolled back with the rest.
   * On the entity of a resource it bypasses what a repository does: it sees the rows of every tenant and
   * deleted ones, writes no etag and no times, stores secrets as they are given, validates nothing and runs
   * no hook of a repository. Errors are those of repositories. `manager.transaction(fn)` is a savepoint.
   * @throws TypeError after the transaction has ended.
   */
  get manager(): EntityManager {
    return this.#scope.manager
  }

  /**
   * Runs SQL inside of the transaction, TypeORM's `manager.sql`: values in the template are bound as
   * parameters. It bypasses everything that a repository does, as `manager` does.
   * @example
   * ```ts
   * import { transaction } from 'ashlar'
   * import type { DataSource } from 'typeorm'
   *
   * export const rename = (dataSource: DataSource, from: string, to: string) =>
   *   transaction(dataSource, ({ sql }) => sql`UPDATE shelves SET label = ${to} WHERE label = ${from}`)
   * ```
   */
  get sql(): EntityManager['sql'] {
    return (strings, ...values) => this.manager.sql(strings, ...values)
  }
}

/** Runs the function of a transaction in its context. */
export async function within<T>(
  scope: TransactionScope,
  context: RequestContext,
  fn: (context: TransactionContext) => Promise<T>,
): Promise<T> {
  const inside = new TransactionContext(context, scope)
  return inside.run(async () => {
    const result = await fn(inside)
    await scope.beforeCommit()
    return result
  })
}
