import { NO_SSLMODE } from '../../text/no-sslmode.js'
import type { FileProblem } from '../messages/file-problems.js'
import type { DatabaseAddress } from '../session/engine.js'

/** Returns the address to which `mysql2` connects. */
export function mysqlAddress(url: URL): DatabaseAddress {
  const host = decodeURIComponent(url.hostname) || 'localhost'
  return {
    dialect: 'mysql',
    name: decodeURIComponent(url.pathname.slice(1)),
    server: url.searchParams.get('socketPath') ?? `${host}:${url.port || '3306'}`,
  }
}

/**
 * Returns the problem of a connection string that lacks the database, or has a parameter that `mysql2`
 * ignores.
 */
export function mysqlUrlProblem({ pathname, searchParams }: URL): FileProblem | undefined {
  if (searchParams.has('sslmode')) return { kind: 'badUrlParameter', why: NO_SSLMODE }
  return pathname.length > 1 ? undefined : { kind: 'noDatabaseNamed', example: 'mysql://host/database' }
}
