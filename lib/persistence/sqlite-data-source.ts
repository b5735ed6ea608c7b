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

/** TypeORM's options for SQLite, without those that only one engine knows. */
export interface SqliteOptions
  extends Omit<BetterSqlite3DataSourceOptions, EngineSpecific>, SqliteEngineOptions {
  /** A file, created when it does not exist (its folder too), or `:memory:`. */
  readonly database: string
  /**
   * The time a statement waits for one transaction, or for another process that holds the file; 5000 ms by
   * default. Each transaction that ends before it begins this time anew.
   */
  readonly busyTimeoutMs?: number
}

/**
 * A TypeORM DataSource on SQLite, through `sqlite3` or `better-sqlite3`, whose transactions have the
 * connection for themselves. TypeORM's own drivers share one connection among all callers: what others wrote
 * meanwhile, and were told was written, goes when a transaction rolls back (two `dataSource.transaction()` at
 * once on its `better-sqlite3` show it). Foreign keys are enforced, and a file is in WAL mode.
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
    // A placeholder keeps TypeORM from loading better-sqlite3 before our driver replaces its own.
    super({ synchronize: true, ...rest, type: 'better-sqlite3', driver: {} } satisfies DataSourceOptions)
    const engineOptions = { ...(engine && { engine }), ...(driver !== undefined && { driver }) }
    this.driver = new SqliteDriver(this, engineOptions, busyTimeoutMs ?? 5000)
  }

  /**
   * Creates the tables of resources that are missing, and columns that they lack; other entities are left to
   * TypeORM, and those with `synchronize: false` or `existing: true` to others. `initialize()` calls it
   * unless `synchronize` is false.
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
   * A repository that is called inside of TypeORM's transaction, and not with its manager, would wait for its
   * end.
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

  /** Rejections of a resource are reported before TypeORM fails on it. */
  protected override async buildMetadatas(): Promise<void> {
    checkResources({ ...this.options.entities })
    await super.buildMetadatas()
    manageValues(this.entityMetadatas)
  }

  /** The turns on the connection; undefined until the DataSource is initialized. */
  get leases(): SqliteLeases | undefined {
    return this.driver instanceof SqliteDriver ? this.driver.leases : undefined
  }
}
