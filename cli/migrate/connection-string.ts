import { Failure } from '../errors/failure.js'

/**
 * The connection string itself, read once from the file that an `fsnotify://` one names. A file name, which
 * only SQLite has, gets the scheme of its driver, so that the migration runner refuses it by name.
 * @param variable - the environment variable that holds it.
 * @throws {Failure} for an empty one, and for a file that cannot be read; without any part of the string: it
 * may hold a password.
 */
export async function connectionString(dsn: string, variable = 'ASHLAR_DATABASE_URL'): Promise<string> {
  if (dsn.trim() === '')
    throw new Failure(
      'input',
      `the connection string is empty: set ${variable} to a URL such as postgres://user@host/database`,
    )
  if (!/^\s*fsnotify:/i.test(dsn)) return dsn
  const { resolveDsn } = await import('../../lib/persistence/index.js')
  try {
    const resolved = await resolveDsn(dsn)
    return HAS_SCHEME.test(resolved.dsn) ? resolved.dsn : `${resolved.driver}:${resolved.dsn}`
  } catch (error) {
    const why = error instanceof Error ? `: ${error.message}` : ''
    throw new Failure('input', `the connection string cannot be used${why}`, { cause: error })
  }
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i
