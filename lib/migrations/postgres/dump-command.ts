import { shellWord } from '../../text/shell-word.js'
import type { DumpSource } from '../session/engine.js'
import type { Session } from '../session/session.js'
import { postgresConnection } from './address.js'

/** The TLS settings that `pg` and libpq have in common. */
const TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const NOT_OF_LIBPQ = 'no-verify'

/**
 * Returns the command line of `pg_dump`, which prompts for a password. If a schema is given, it omits
 * extensions unless they are listed.
 */
export async function postgresDump(session: Session, { url, schema, tables }: DumpSource): Promise<string> {
  const extensions = await session.rows(
    `SELECT extname AS name FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1`,
  )
  const { host, port, user, name } = postgresConnection(url)
  // Omit the table, its sequence, and the lock table of some tools.
  const without = tables.flatMap((table) => [`"${table}"`, `"${table}_id_seq"`, `"${table}_lock"*`])
  const tls = TLS.flatMap((key) => {
    const value = url.searchParams.get(key)
    return value === null || value === NOT_OF_LIBPQ ? [] : [`${key}=${inConninfo(value)}`]
  })
  return [
    ...['pg_dump', '--schema-only', '--no-owner', '--no-privileges'],
    `--schema=${pattern(schema)}`,
    ...extensions.map(({ name }) => `--extension=${pattern(String(name))}`),
    ...without.map((excluded) => `--exclude-table=*.${excluded}`),
    ...[`--host=${host}`, `--port=${port}`, `--username=${user}`],
    `--dbname=${tls.length === 0 ? name : [`dbname=${inConninfo(name)}`, ...tls].join(' ')}`,
  ]
    .map(shellWord)
    .join(' ')
}

/** Quotes a value for a libpq connection string. */
const inConninfo = (value: string): string =>
  /^[\w./-]+$/.test(value) ? value : `'${value.replaceAll(/['\\]/g, '\\$&')}'`

/** Returns a name as a pattern for `pg_dump`, quoted if necessary. */
const pattern = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
