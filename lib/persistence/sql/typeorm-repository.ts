import type { DataSource, EntityManager } from 'typeorm'
import type { EntityClass } from '../../resource/resource-model.js'
import type { CoalesceOptions } from '../coalescing/coalesce.js'
import type { StandardOptions } from '../repository/performers.js'
import { StandardRepository } from '../repository/standard-repository.js'
import type { SqlCall } from '../rows/row-call.js'
import { modelOn } from '../schema/resources-in.js'
import type { DataSourceCheck } from '../start-up/data-source-check.js'
import { joinedRepository } from './joined-repository.js'
import { SqlBackend } from './sql-backend.js'
import type { TransactionContext } from './transaction-context.js'

/** Options of a repository on a DataSource. */
export interface RepositoryOptions extends StandardOptions, CoalesceOptions {}

/**
 * The repository of one entity on a TypeORM DataSource: SQLite, PostgreSQL or MySQL. TypeORM gives the pool
 * and the metadata; every statement is the repository's own. The context of a transaction has TypeORM's
 * `manager` and `sql` as well.
 */
export class TypeormRepository<E extends object, K = string> extends StandardRepository<
  E,
  SqlCall,
  TransactionContext,
  K
> {
  readonly table: DataSourceCheck['table']
  readonly #backend: SqlBackend<E>

  constructor(dataSource: DataSource, entity: EntityClass<E>, options: RepositoryOptions = {}) {
    const model = modelOn(dataSource, entity)
    const backend = new SqlBackend(dataSource, model, options)
    super(model, options, backend)
    this.#backend = backend
    this.table = backend.check.table
  }

  /** A server asks before it binds its addresses. */
  readonly startUpCheck = ({ maxTenantConnections }: { readonly maxTenantConnections?: number } = {}) => {
    const { check, database } = this.#backend
    if (maxTenantConnections !== undefined) database.maxTenantConnections = maxTenantConnections
    return check.startUp()
  }

  /**
   * The repository inside of a transaction that TypeORM has begun: `dataSource.transaction((manager) =>
   * widgets.withManager(manager).create(...))`. Nothing else makes it join one.
   * @throws TypeError when the manager has no transaction open, or is of another DataSource.
   */
  withManager(manager: EntityManager): this {
    return joinedRepository(this, this.#backend.database, manager)
  }

  /** Rejects while the database refuses all writes, as a demoted primary does, or cannot be reached. */
  checkWrites(): Promise<void> {
    return this.#backend.database.checkWrites()
  }

  /** The `host:port` of each Citus worker that did not answer the last check. Never waits. */
  unreachableWorkers(): readonly string[] {
    return this.#backend.database.unreachableWorkers?.() ?? []
  }
}
