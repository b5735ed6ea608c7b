import { dirname } from 'node:path'
import { DataSource, QueryFailedError, QueryResult, QueryRunnerAlreadyReleasedError } from 'typeorm'
import type { DataSourceOptions, EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm'
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js'
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js'
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js'
import { BroadcasterResult } from 'typeorm/subscriber/BroadcasterResult.js'
import { inheritedFacts } from '../../decorators/metadata.js'
import { AshlarError } from '../errors.js'
import type { EntityClass } from '../resource/resource-model.js'
import { createTables } from './create-tables.js'
import { checkResources } from './resources-in.js'
import { openSqlite, type SqliteEngineOptions } from './sqlite-engine.js'
import { SqliteLeases, type SqliteLease } from './sqlite-leases.js'

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
  /** How long a statement waits for a transaction, or for another process that holds the file; 5000 ms by default. */
  readonly busyTimeoutMs?: number
}

/**
 * A TypeORM DataSource on SQLite, through `sqlite3` or `better-sqlite3`, whose transactions have the connection for
 * themselves. TypeORM's own drivers share one connection among everybody: what others wrote meanwhile, and were told was
 * written, goes when a transaction rolls back (two `dataSource.transaction()` at once on its `better-sqlite3` show it).
 * Foreign keys are enforced, and a file is in WAL mode.
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
   * Creates the tables of resources that are missing, and columns that they lack; other entities are left to TypeORM, and
   * those with `synchronize: false` to others.
   * `initialize()` calls it unless `synchronize` is false.
   */
  override async synchronize(dropBeforeSync = false): Promise<void> {
    const isResource = ({ target }: EntityMetadata) =>
      typeof target === 'function' && inheritedFacts(target as EntityClass<object>).resource !== undefined
    const resources = this.entityMetadatas.filter(isResource)
    for (const metadata of resources) metadata.synchronize = false
    const isMixed = resources.length < this.entityMetadatas.length
    if (isMixed || dropBeforeSync) await super.synchronize(dropBeforeSync)
    const entities = resources
      .filter(({ tableMetadataArgs }) => tableMetadataArgs.synchronize !== false)
      .map(({ target }) => target as EntityClass<object>)
    await createTables(this, entities, 'sqlite')
  }

  /** What is refused of a resource is told before TypeORM trips over it. */
  protected override async buildMetadatas(): Promise<void> {
    checkResources({ ...this.options.entities })
    await super.buildMetadatas()
  }

  /** Who may use the connection; undefined until the DataSource is initialized. */
  get leases(): SqliteLeases | undefined {
    return this.driver instanceof SqliteDriver ? this.driver.leases : undefined
  }
}

/** TypeORM's `any`: rows, a row id, or a QueryResult. */
type RawResult = Awaited<ReturnType<BetterSqlite3QueryRunner['query']>>

class SqliteDriver extends BetterSqlite3Driver {
  leases: SqliteLeases | undefined

  constructor(
    dataSource: DataSource,
    private readonly engineOptions: SqliteEngineOptions,
    private readonly busyTimeoutMs: number,
  ) {
    super(dataSource)
  }

  override async disconnect(): Promise<void> {
    const leases = this.leases
    this.leases = undefined
    await leases?.close()
  }

  override createQueryRunner(): QueryRunner {
    return new SqliteQueryRunner(this)
  }

  protected override async createDatabaseConnection(): Promise<SqliteLeases> {
    const { database } = this.options
    const isMemory = database === ':memory:'
    if (!isMemory) await this.createDatabaseDirectory(dirname(database))
    const connection = await openSqlite(database, this.busyTimeoutMs, this.engineOptions)
    await connection.run('PRAGMA foreign_keys = ON', [], 'array')
    if (!isMemory) await connection.run('PRAGMA journal_mode = WAL', [], 'array')
    this.leases = new SqliteLeases(connection, this.busyTimeoutMs)
    return this.leases
  }

  protected override loadDependencies(): void {
    // Loaded on connecting, so that declaring a DataSource needs no driver.
  }
}

/** One per caller, unlike TypeORM's own, and alone on the connection while it has a transaction open. */
class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  #lease: SqliteLease | undefined
  #isMigrating = false

  constructor(private readonly sqlite: SqliteDriver) {
    super(sqlite)
  }

  override async startTransaction(isolationLevel?: IsolationLevel): Promise<void> {
    await this.#hold()
    try {
      await super.startTransaction(isolationLevel)
    } catch (error) {
      await this.#letGo()
      throw error
    }
  }

  override async commitTransaction(): Promise<void> {
    await super.commitTransaction()
    await this.#letGo()
  }

  /** SQLite may have rolled back by itself, on a full disk say: the connection is handed back all the same. */
  override async rollbackTransaction(): Promise<void> {
    try {
      await super.rollbackTransaction()
    } catch (error) {
      await this.#lease?.run('ROLLBACK', [], 'array').catch(() => {})
      this.isTransactionActive = false
      this.transactionDepth = 0
      throw error
    } finally {
      await this.#letGo()
    }
  }

  /** Foreign keys are off for the whole connection now, so nobody else may use it. */
  override async beforeMigration(): Promise<void> {
    await this.#hold()
    this.#isMigrating = true
    await this.query('PRAGMA foreign_keys = OFF')
  }

  override async afterMigration(): Promise<void> {
    await this.query('PRAGMA foreign_keys = ON')
    this.#isMigrating = false
    await this.#letGo()
  }

  override async clearDatabase(database?: string): Promise<void> {
    await this.beforeMigration()
    try {
      await super.clearDatabase(database)
    } finally {
      await this.afterMigration()
    }
  }

  override async release(): Promise<void> {
    if (this.isReleased) return
    await super.release()
    const lease = this.#lease
    this.#lease = undefined
    this.isReleased = true
    if (lease === undefined) return
    if (this.#isMigrating) await lease.run('ROLLBACK', [], 'array').catch(() => {})
    if (this.#isMigrating) await lease.run('PRAGMA foreign_keys = ON', [], 'array')
    await lease.release(!this.isTransactionActive)
  }

  override async query(
    query: string,
    parameters?: unknown[] | ObjectLiteral,
    useStructuredResult = false,
  ): Promise<RawResult> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError()
    const values = parameters ?? []
    if (!Array.isArray(values)) throw new TypeError('SQLite takes its values as an array')
    const { logger } = this.dataSource
    const broadcasts = new BroadcasterResult()
    logger.logQuery(query, values, this)
    await this.broadcaster.broadcast('BeforeQuery', query, values)
    const start = Date.now()
    try {
      const result = await this.#send(query, values)
      const took = Date.now() - start
      const limit = this.dataSource.options.maxQueryExecutionTime
      if (limit !== undefined && limit > 0 && took > limit) logger.logQuerySlow(took, query, values, this)
      this.broadcaster.broadcastAfterQueryEvent(broadcasts, query, values, true, took, result.raw, undefined)
      return useStructuredResult ? result : result.raw
    } catch (error) {
      const cause = error instanceof Error ? error : new TypeError(String(error))
      logger.logQueryError(cause, query, values, this)
      this.broadcaster.broadcastAfterQueryEvent(broadcasts, query, values, false, undefined, undefined, error)
      throw isDriverError(cause) ? new QueryFailedError(query, values, cause) : cause
    } finally {
      await broadcasts.wait()
    }
  }

  async #send(query: string, values: readonly unknown[]): Promise<QueryResult> {
    const on = this.#lease ?? this.#leases
    // Taking the write lock at once means that another process cannot make the first write of a transaction fail.
    const text = query === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : query
    const { rows, affected, lastId } = await on.run(text, values, 'object')
    const result = new QueryResult()
    result.raw = lastId ?? rows
    if (lastId === undefined) result.records = [...rows]
    else result.affected = affected
    return result
  }

  protected override loadPragmaRecords(tablePath: string, pragma: string): Promise<unknown> {
    const [database, table] = this.splitTablePath(tablePath)
    return this.query(`PRAGMA ${database === undefined ? '' : `"${database}".`}${pragma}("${table}")`)
  }

  async #hold(): Promise<void> {
    this.#lease ??= await this.#leases.lease()
  }

  async #letGo(): Promise<void> {
    if (this.#isMigrating || this.isTransactionActive) return
    const lease = this.#lease
    this.#lease = undefined
    await lease?.release(true)
  }

  get #leases(): SqliteLeases {
    if (this.sqlite.leases !== undefined) return this.sqlite.leases
    throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
  }
}

/** Ours (busy, cancelled) and programming mistakes are told as they are. */
const isDriverError = (error: Error): boolean =>
  !(error instanceof AshlarError || error instanceof TypeError || error instanceof RangeError)
