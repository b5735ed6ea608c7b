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
 * The repository of an entity on a TypeORM DataSource for SQLite, PostgreSQL or MySQL. TypeORM provides the
 * pool and the metadata; the repository generates every statement itself. Transaction contexts also have
 * TypeORM's `manager` and `sql`.
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

  /** A server calls this method before it binds its addresses. */
  readonly startUpCheck = ({ maxTenantConnections }: { readonly maxTenantConnections?: number } = {}) => {
    const { check, database } = this.#backend
    if (maxTenantConnections !== undefined) database.maxTenantConnections = maxTenantConnections
    return check.startUp()
  }

  /**
   * Returns the repository inside a transaction that TypeORM has begun: `dataSource.transaction((manager) =>
   * widgets.withManager(manager).create(...))`. This is the only way to join such a transaction.
   *
   * @throws TypeError if the manager has no open transaction or belongs to another DataSource.
   */
  withManager(manager: EntityManager): this {
    return joinedRepository(this, this.#backend.database, manager)
  }

  /** Rejects if the database cannot be reached or rejects all writes, such as a demoted primary. */
  checkWrites(): Promise<void> {
    return this.#backend.database.checkWrites()
  }

  /** Returns `host:port` of each Citus worker that did not answer the last check. Does not wait. */
  unreachableWorkers(): readonly string[] {
    return this.#backend.database.unreachableWorkers?.() ?? []
  }
}
