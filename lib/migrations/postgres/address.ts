import { userInfo } from 'node:os'
import type { FileProblem } from '../messages/file-problems.js'
import type { DatabaseAddress } from '../session/engine.js'

/**
 * Returns the address to which `pg` connects. Missing parts of the connection string come from the
 * environment or from defaults.
 */
export function postgresAddress(url: URL, schema: string): DatabaseAddress {
  const { host, port, name } = postgresConnection(url)
  // A host that begins with a slash is the folder of a socket.
  return { dialect: 'postgres', name, server: host.startsWith('/') ? host : `${host}:${port}`, schema }
}

/** Returns the parts of a `pg` connection without the password. */
export function postgresConnection(url: URL): Readonly<Record<'host' | 'port' | 'user' | 'name', string>> {
  const { PGHOST, PGPORT, PGDATABASE, PGUSER } = process.env
  const host = url.searchParams.get('host') ?? (decodeURIComponent(url.hostname) || PGHOST || 'localhost')
  const port = url.searchParams.get('port') ?? (url.port || PGPORT || '5432')
  const user = decodeURIComponent(url.username) || PGUSER || userInfo().username
  return { host, port, user, name: decodeURIComponent(url.pathname.slice(1)) || PGDATABASE || user }
}

/** Returns a problem if no database is named. `pg` would use one with the user's name. */
export const postgresUrlProblem = ({ pathname }: URL): FileProblem | undefined =>
  pathname.length > 1 || (process.env.PGDATABASE ?? '') !== ''
    ? undefined
    : { kind: 'noDatabaseNamed', example: 'postgres://host/database' }
