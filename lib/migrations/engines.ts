import { Unimplemented } from '../errors.js'
import type { Dialect } from './files/dialect-name.js'
import { refused } from './messages/problem.js'
import { mysql } from './mysql/engine.js'
import { postgres } from './postgres/engine.js'
import type { Engine } from './session/engine.js'

/** The engines that run versioned SQL. */
export const ENGINES: Readonly<Record<Dialect, Engine>> = { postgres, mysql }

export const engineOf = (dialect: Dialect): Engine => ENGINES[dialect]

/**
 * Returns the engine for a connection string. Errors never contain the string, because it may contain a
 * password.
 *
 * @throws {Unimplemented} for SQLite, which only has automatic table creation.
 * @throws {TypeError} if the string begins with neither `postgres://` nor `mysql://`.
 */
export function dialectOf(url: string): Dialect {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.trim())?.[1]?.toLowerCase()
  const engine = Object.values(ENGINES).find(({ schemes }) => schemes.includes(scheme ?? ''))
  if (engine !== undefined) return engine.dialect
  if (SQLITE_SCHEMES.includes(scheme ?? '') || SQLITE_FILE.test(url))
    throw refused(Unimplemented, { kind: 'noVersionedSql' })
  throw refused(TypeError, { kind: scheme === 'fsnotify' ? 'fileOfDsn' : 'badScheme' })
}

const SQLITE_SCHEMES = ['sqlite', 'sqlite3', 'file']
const SQLITE_FILE = /^:memory:$|\.(db|sqlite|sqlite3)$/i
