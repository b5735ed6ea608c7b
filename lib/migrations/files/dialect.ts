import { Unimplemented } from '../../errors.js'

/** The two engines that versioned SQL runs on. MariaDB counts as MySQL. */
export type Dialect = 'postgres' | 'mysql'

export const DIALECTS: readonly Dialect[] = ['postgres', 'mysql']

/**
 * The engine a connection string is for. Nothing of the string is repeated in an error, it may hold a password.
 * @throws {Unimplemented} for SQLite, which keeps automatic table creation.
 * @throws {TypeError} for anything else that is neither `postgres://` nor `mysql://`.
 */
export function dialectOf(url: string): Dialect {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.trim())?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql') return 'postgres'
  if (scheme === 'mysql' || scheme === 'mariadb') return 'mysql'
  if (scheme === 'sqlite' || scheme === 'sqlite3' || scheme === 'file' || SQLITE_FILE.test(url))
    throw new Unimplemented(
      'migrations: SQLite runs no versioned SQL. It is for development and tests, where tables are created ' +
        'automatically from the entities; use PostgreSQL or MySQL to run migrations',
    )
  if (scheme === 'fsnotify')
    throw new TypeError(
      'migrations: an fsnotify:// string names a file: hand over what resolveDsn of ashlar/persistence reads in it',
    )
  throw new TypeError('migrations: the connection string must start with postgres:// or mysql://')
}

const SQLITE_FILE = /^:memory:$|\.(db|sqlite|sqlite3)$/i
