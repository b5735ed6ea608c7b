import { QueryFailedError, QueryResult, QueryRunnerAlreadyReleasedError } from 'typeorm'
import type { ObjectLiteral } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js'
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js'
import { BroadcasterResult } from 'typeorm/subscriber/BroadcasterResult.js'
import { AshlarError } from '../../../errors.js'
import type { SqliteDriver } from './driver.js'
import type { SqliteLease, SqliteLeases } from './leases.js'

/** The result type of TypeORM's `query`: rows, a row id, or a QueryResult. */
type RawResult = Awaited<ReturnType<BetterSqlite3QueryRunner['query']>>

/**
 * A query runner per caller, unlike TypeORM's. It reserves the connection while it has an open transaction.
 */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  #lease: SqliteLease | undefined
  #isMigrating = false
  /**
   * The number of rows, by table, that referred to a missing row before the migration. Undefined if they
   * could not be counted.
   */
  #violations: ReadonlyMap<string, number> | undefined

  constructor(private readonly sqlite: SqliteDriver) {
    super(sqlite)
  }

  /** The reserved connection, while a transaction is open. */
  get lease(): SqliteLease | undefined {
    return this.#lease
  }

  /** Uses a connection that other code has reserved. */
  use(lease: SqliteLease): void {
    this.#lease = lease
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

  /**
   * Commits the transaction. Checks the foreign keys after a migration.
   *
   * @throws TypeError if a migration leaves more rows that refer to a missing row.
   */
  override async commitTransaction(): Promise<void> {
    if (this.#isMigrating && this.transactionDepth === 1) await this.#checkForeignKeys()
    await super.commitTransaction()
    await this.#letGo()
  }

  /**
   * Rolls back and releases the connection, even if SQLite has already rolled back, for example because of a
   * full disk.
   */
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

  /** Reserves the connection for a migration, because foreign keys are disabled for the whole connection. */
  override async beforeMigration(): Promise<void> {
    await this.#hold()
    this.#isMigrating = true
    // A foreign key to columns that are not unique cannot be checked. The migration may correct it.
    this.#violations = await this.#foreignKeyViolations().catch(() => undefined)
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
    if (!Array.isArray(values)) throw new TypeError('the parameters of a query must be an array on SQLite')
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
    // Take the write lock immediately. Otherwise another process could make the first write of the
    // transaction fail.
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

  async #checkForeignKeys(): Promise<void> {
    const before = this.#violations
    if (before === undefined) return
    const broken = [...(await this.#foreignKeyViolations())].filter(
      ([table, rows]) => rows > (before.get(table) ?? 0),
    )
    if (broken.length === 0) return
    const texts = broken.map(([table, rows]) => `${table} has ${rows} such ${rows === 1 ? 'row' : 'rows'}`)
    throw new TypeError(
      `the migration was rolled back because it leaves foreign keys without a target (${texts.join(', ')}): correct the migration. To list the rows, add PRAGMA foreign_key_check as its last statement`,
    )
  }

  async #foreignKeyViolations(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await (this.#lease ?? this.#leases).run(VIOLATIONS, [], 'array')
    return new Map((rows as unknown[][]).map(([table, count]) => [String(table), Number(count)]))
  }

  async #hold(): Promise<void> {
    if (this.#lease !== undefined) return
    const lease = await this.#leases.lease()
    if (this.isReleased) {
      await lease.release(true)
      throw new QueryRunnerAlreadyReleasedError()
    }
    this.#lease = lease
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

const VIOLATIONS = 'SELECT "table", COUNT(*) FROM pragma_foreign_key_check GROUP BY "table"'

/** Returns false for Ashlar's errors (busy, cancelled) and programming errors, which are not wrapped. */
const isDriverError = (error: Error): boolean =>
  !(error instanceof AshlarError || error instanceof TypeError || error instanceof RangeError)
