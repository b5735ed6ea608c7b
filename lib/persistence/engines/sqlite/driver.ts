import { dirname } from 'node:path'
import type { DataSource, QueryRunner } from 'typeorm'
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import { SqliteLeases } from './leases.js'
import { SqliteValues } from './managed-values.js'
import { openSqlite, type SqliteEngineOptions } from './open-engine.js'
import { SqliteQueryRunner } from './query-runner.js'

/** TypeORM's driver of a SqliteDataSource, which has one connection. */
export class SqliteDriver extends BetterSqlite3Driver {
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

  /**
   * Selects 64-bit integers as strings, because `sqlite3` returns wrong numbers beyond 2^53. TypeORM calls
   * this for columns of every kind.
   */
  override wrapWithJsonFunction(value: string, column: ColumnMetadata, jsonb?: boolean): string {
    const casts = column.transformer instanceof SqliteValues ? column.transformer.casts : undefined
    if (casts === undefined) return super.wrapWithJsonFunction(value, column, jsonb)
    return `CAST(${value} AS ${jsonb === true ? casts.written : casts.read})`
  }

  /**
   * Converts a value for TypeORM's manager.
   *
   * @throws RangeError if SQLite would truncate the integer.
   */
  override preparePersistentValue(value: unknown, column: ColumnMetadata): unknown {
    if (typeof value === 'bigint' && value !== BigInt.asIntN(64, value))
      throw new RangeError(`${column.propertyName}: is above 2^63-1, the most SQLite can store`)
    return super.preparePersistentValue(value, column) as unknown
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
    // Load the package when connecting, so that a DataSource can be declared without a driver.
  }
}
