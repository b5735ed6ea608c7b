import { dirname } from 'node:path'
import type { DataSource, QueryRunner } from 'typeorm'
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import { SqliteLeases } from './leases.js'
import { openSqlite, type SqliteEngineOptions } from './open-engine.js'
import { SqliteQueryRunner } from './query-runner.js'

/** TypeORM's driver of a SqliteDataSource: it has one connection, which its leases hand out. */
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
