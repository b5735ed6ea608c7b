import { Failure } from '../errors/failure.js'

/**
 * The connection string itself, read once from the file that an `fsnotify://` one names. A connection string for SQLite
 * is returned as it is, and refused later.
 * @throws {Failure} without any part of the string: it may hold a password.
 */
export async function connectionString(dsn: string): Promise<string> {
  if (!/^\s*fsnotify:/i.test(dsn)) return dsn
  const { resolveDsn } = await import('../../lib/persistence/index.js')
  try {
    const resolved = await resolveDsn(dsn)
    return resolved.driver === 'sqlite' ? `sqlite:${resolved.dsn}` : resolved.dsn
  } catch (error) {
    throw new Failure('input', error instanceof Error ? error.message : 'the DSN cannot be read', {
      cause: error,
    })
  }
}
