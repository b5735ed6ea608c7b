import { Failure } from '../errors/failure.js'

/**
 * Returns the connection string, which an `fsnotify://` URL names as a file. A file name, which only SQLite
 * supports, gets the scheme of its driver, so that the migration runner can reject it with a clear error.
 * @param variable - the environment variable that contains it.
 * @throws {Failure} for an empty string or an unreadable file. The error contains no part of the string,
 *   because it may contain a password.
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
