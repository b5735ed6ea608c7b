import type { DatabaseAddress, SessionFailure } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { connectionString } from '../migrate/connection-string.js'
import type { Purpose } from './with-outbox.js'

/** The database of an outbox, with functions that interpret its server's errors. */
export interface OutboxDatabase {
  /**
   * Undefined if the connection string is not a URL. Its schema is the one that is read, even if none was
   * given.
   */
  readonly address: DatabaseAddress | undefined
  /** Returns the failure, with advice. */
  readonly connectionFailed: (error: unknown) => Failure
  readonly failureOf: (error: unknown) => SessionFailure
}

/**
 * Returns the database without connecting to it.
 * @throws {Failure} for an invalid URL or schema.
 */
export async function outboxDatabase(
  dsn: string,
  schema: string | undefined,
  isFor: Purpose['isFor'] = 'outbox',
): Promise<OutboxDatabase> {
  const { namedDatabase, problemsOf, problemText, Unimplemented } =
    await import('../../lib/migrations/index.js')
  const url = await connectionString(dsn)
  const plain = (error: Error) =>
    problemsOf(error)
      ?.map((problem) => problemText(problem))
      .join('; ') ?? error.message
  const named = () => {
    try {
      return namedDatabase({ url, ...(schema !== undefined && { schema }) })
    } catch (error) {
      if (error instanceof Unimplemented) throw new Failure('input', NO_SQLITE[isFor], { cause: error })
      throw error instanceof Error ? new Failure('input', plain(error), { cause: error }) : error
    }
  }
  const { address, connectionFailed, failureOf } = named()
  return {
    address,
    connectionFailed: (error) => new Failure('database', plain(connectionFailed(error)), { cause: error }),
    failureOf,
  }
}

const NAME_ANOTHER = 'use a PostgreSQL or MySQL URL, postgres:// or mysql://'
const NO_SQLITE = {
  outbox: `an outbox on SQLite is for development and tests, and has no commands: ${NAME_ANOTHER}`,
  catalog: `the catalog is read from PostgreSQL: name a database with postgres://`,
  secrets: `SQLite is for development and tests; call rewrapSecrets() of a repository to rewrap its secrets: ${NAME_ANOTHER}`,
}
