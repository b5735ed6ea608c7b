import type { DataSource } from 'typeorm'
import { MysqlDatabase } from './mysql/mysql-database.js'
import { PostgresDatabase } from './postgres/postgres-database.js'
import { SqliteDatabase } from './sqlite/sqlite-database.js'
import type { DialectName } from '../dialects/dialect.js'
import type { Database } from './executor/executor.js'
import { SqliteDriver } from './sqlite/driver.js'

export interface DatabaseOptions {
  /** Overrides the detected server, so that tests can run MySQL 8 statements on MariaDB. */
  readonly dialect?: DialectName
}

/** One Database per DataSource, so that a transaction can recognize its own. */
const databases = new WeakMap<DataSource, Database>()
/** The same databases as an iterable list. */
const known = new Set<WeakRef<Database>>()

/** Returns the open databases of the process. */
export function* openDatabases(): Generator<Database> {
  for (const reference of known) {
    const database = reference.deref()
    if (database === undefined) known.delete(reference)
    else if (database.dataSource.isInitialized) yield database
  }
}

/**
 * Returns the Database of a DataSource, which is also the Executor of its pool. Returns the same object each
 * time; only the first call uses `options`.
 *
 * @throws TypeError if the DataSource is not for PostgreSQL, MySQL, MariaDB, or a `SqliteDataSource`.
 */
export function executorOf(dataSource: DataSource, options: DatabaseOptions = {}): Database {
  const made = databases.get(dataSource)
  if (made !== undefined) return made
  const database = databaseOf(dataSource, options)
  databases.set(dataSource, database)
  known.add(new WeakRef(database))
  return database
}

function databaseOf(dataSource: DataSource, { dialect }: DatabaseOptions): Database {
  const { type } = dataSource.options
  if (dataSource.driver instanceof SqliteDriver) return new SqliteDatabase(dataSource)
  if (type === 'postgres') return new PostgresDatabase(dataSource)
  if (type === 'mysql' || type === 'mariadb') {
    return new MysqlDatabase(dataSource, dialect === 'mysql' || dialect === 'mariadb' ? dialect : undefined)
  }
  const advice = type === 'better-sqlite3' ? ': use SqliteDataSource, whose transactions are isolated' : ''
  throw new TypeError(`a DataSource of type ${type} is not supported${advice}`)
}
