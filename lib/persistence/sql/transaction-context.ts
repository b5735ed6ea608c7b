import type { EntityManager } from 'typeorm'
import { RequestContext } from '../../context.js'
import { TransactionChain } from '../contract/open-transaction.js'
import type { TransactionScope } from './transaction-scope.js'

/** The context in a database transaction: the context of the call with TypeORM's `manager` and `sql`. */
export class TransactionContext extends RequestContext {
  readonly #scope: TransactionScope

  constructor(context: RequestContext, scope: TransactionScope) {
    super(RequestContext.fieldsOf(context, { transaction: TransactionChain.of(scope) }))
    this.#scope = scope
    Object.freeze(this)
  }

  /**
   * TypeORM's EntityManager for this transaction. Its writes are committed or rolled back with the
   * transaction. For a resource's entity it bypasses the repository: it reads the rows of all tenants and
   * deleted rows, sets no etag and no times, stores secrets unprotected, validates nothing and calls no
   * repository hooks. It throws the errors of repositories. `manager.transaction(fn)` is a savepoint.
   *
   * @throws TypeError after the transaction has ended.
   */
  get manager(): EntityManager {
    return this.#scope.manager
  }

  /**
   * Runs SQL in this transaction, as TypeORM's `manager.sql`. Values in the template are bound as parameters.
   * Like `manager`, it bypasses repositories.
   *
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

/** Runs a transaction's function in its context. */
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
