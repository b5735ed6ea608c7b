import { openBetterSqlite3, type BetterSqlite3Module } from './better-sqlite3.js'
import type { SqliteConnection } from './connection.js'
import { openSqlite3, type Sqlite3Module } from './sqlite3.js'

/** The npm package that contains SQLite. @inline */
export type SqliteEngine = 'sqlite3' | 'better-sqlite3'

export interface SqliteEngineOptions {
  /** The package. Default: `sqlite3` if it is installed, otherwise `better-sqlite3`. */
  readonly engine?: SqliteEngine
  /** The package's module object, for a bundle or if the package cannot be found by name. */
  readonly driver?: unknown
}

/** Opens `file` or `:memory:` with the requested engine. */
export async function openSqlite(
  file: string,
  busyTimeoutMs: number,
  options: SqliteEngineOptions,
): Promise<SqliteConnection> {
  const driver = unwrapped(options.driver ?? (await load(options.engine)))
  if (isSqlite3(driver)) return openSqlite3(driver, file, busyTimeoutMs)
  if (isBetterSqlite3(driver)) return openBetterSqlite3(driver, file, busyTimeoutMs)
  throw new TypeError('SqliteDataSource: driver must be the module object of sqlite3 or better-sqlite3')
}

/** Returns a CommonJS package without the namespace that `import()` adds. */
function unwrapped(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : module
}

const isSqlite3 = (module: unknown): module is Sqlite3Module =>
  typeof module === 'object' && module !== null && 'Database' in module

const isBetterSqlite3 = (module: unknown): module is BetterSqlite3Module => typeof module === 'function'

async function load(engine: SqliteEngine | undefined): Promise<unknown> {
  const wanted = engine === undefined ? (['sqlite3', 'better-sqlite3'] as const) : [engine]
  for (const name of wanted) {
    try {
      return await import(name)
    } catch (error) {
      if (!isMissing(error, name))
        throw new TypeError(`SqliteDataSource: ${name} is installed but cannot be loaded`, { cause: error })
    }
  }
  throw new TypeError(`SqliteDataSource: ${wanted.join(' or ')} is not installed: npm install ${wanted[0]}`)
}

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.includes(`'${name}'`)
