import { DataSource } from 'typeorm'
import type { DataSourceOptions, EntityManager, QueryRunner } from 'typeorm'
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js'
import { inheritedFacts } from '../../decorators/entity-facts.js'
import { type EntityClass, isResource } from '../resource/resource-model.js'
import { UnjoinedTransaction } from './contract/open-transaction.js'
import { executorOf } from './engines/executor-of.js'
import { createTables } from './schema/create-tables.js'
import { checkResources } from './schema/resources-in.js'
import { SqliteDriver } from './engines/sqlite/driver.js'
import { manageValues } from './engines/sqlite/managed-values.js'
import type { SqliteEngineOptions } from './engines/sqlite/open-engine.js'
import type { SqliteLeases } from './engines/sqlite/leases.js'

type EngineSpecific =
  | 'type'
  | 'driver'
  | 'fileMustExist'
  | 'enableWAL'
  | 'key'
  | 'nativeBinding'
  | 'prepareDatabase'
  | 'readonly'
  | 'statementCacheSize'
  | 'timeout'
  | 'verbose'

/** TypeORM's options for SQLite, except the options of a specific engine. */
export interface SqliteOptions
  extends Omit<BetterSqlite3DataSourceOptions, EngineSpecific>, SqliteEngineOptions {
  /** The file, which is created together with its folder if it does not exist, or `:memory:`. */
  readonly database: string
  /**
   * The maximum time in milliseconds that a statement waits for one transaction, or for another process that
   * locks the file. Default: 5000. The wait starts again when a transaction ends.
   */
  readonly busyTimeoutMs?: number
}

/**
 * A TypeORM DataSource on SQLite, through `sqlite3` or `better-sqlite3`, whose transactions are isolated.
 * TypeORM's own drivers share one connection among all callers. When one caller's transaction rolls back, it
 * discards writes that others made meanwhile and that were reported as successful. Two concurrent
 * `dataSource.transaction()` calls on its `better-sqlite3` driver show this. Foreign keys are enforced, and
 * files use WAL mode.
 *
 * @example
 * ```ts
 * import { createTables, SqliteDataSource } from 'ashlar'
 * import { Widget } from './widget.js'
 *
 * const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [Widget] }).initialize()
 * await createTables(dataSource, [Widget], 'sqlite')
 * ```
 */
export class SqliteDataSource extends DataSource {
  constructor(options: SqliteOptions) {
    const { engine, driver, busyTimeoutMs, ...rest } = options
    // The placeholder prevents TypeORM from loading better-sqlite3 before the driver is replaced.
    super({ synchronize: true, ...rest, type: 'better-sqlite3', driver: {} } satisfies DataSourceOptions)
    const engineOptions = { ...(engine && { engine }), ...(driver !== undefined && { driver }) }
    this.driver = new SqliteDriver(this, engineOptions, busyTimeoutMs ?? 5000)
  }

  /**
   * Creates missing tables and columns of resources. Other entities are synchronized by TypeORM. Entities
   * with `synchronize: false` or `existing: true` are not changed. `initialize()` calls this method unless
   * `synchronize` is false.
   */
  override async synchronize(dropBeforeSync = false): Promise<void> {
    const resources = this.entityMetadatas.filter(({ target }) => isResource(target))
    for (const metadata of resources) metadata.synchronize = false
    const isMixed = resources.length < this.entityMetadatas.length
    if (isMixed || dropBeforeSync) await super.synchronize(dropBeforeSync)
    const entities = resources
      .filter(({ tableMetadataArgs }) => tableMetadataArgs.synchronize !== false)
      .map(({ target }) => target as EntityClass<object>)
      .filter((entity) => inheritedFacts(entity).resource?.existing !== true)
    await createTables(this, entities, 'sqlite')
  }

  /**
   * Prevents a deadlock: a repository called inside TypeORM's transaction, but not with its manager, would
   * wait for the transaction to end.
   */
  override createEntityManager(queryRunner?: QueryRunner): EntityManager {
    const manager = super.createEntityManager(queryRunner)
    const transaction = manager.transaction.bind(manager)
    type Work = (inner: EntityManager) => Promise<unknown>
    const marked = (work: unknown) =>
      typeof work === 'function'
        ? (inner: EntityManager) =>
            new UnjoinedTransaction(executorOf(this)).run(async () => (work as Work)(inner))
        : work
    return Object.assign(manager, {
      transaction: (...operands: Parameters<typeof transaction>) =>
        transaction(...(operands.map(marked) as Parameters<typeof transaction>)),
    })
  }

  /** Checks the resources first, because TypeORM's error for an invalid one is less specific. */
  protected override async buildMetadatas(): Promise<void> {
    checkResources({ ...this.options.entities })
    await super.buildMetadatas()
    manageValues(this.entityMetadatas)
  }

  /** The access to the connection. Undefined until the DataSource is initialized. @internal */
  get leases(): SqliteLeases | undefined {
    return this.driver instanceof SqliteDriver ? this.driver.leases : undefined
  }
}
