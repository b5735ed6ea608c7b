import { shellWord } from '../../text/shell-word.js'
import type { DumpSource } from '../session/engine.js'
import type { Session } from '../session/session.js'
import { postgresConnection } from './address.js'

/** The settings of TLS that `pg` and libpq have in common. */
const TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const NOT_OF_LIBPQ = 'no-verify'

/**
 * The command line of `pg_dump`, which asks for a password. With a schema, it leaves out extensions that it
 * is not given.
 */
export async function postgresDump(session: Session, { url, schema, tables }: DumpSource): Promise<string> {
  const extensions = await session.rows(
    `SELECT extname AS name FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1`,
  )
  const { host, port, user, name } = postgresConnection(url)
  // The table, its sequence, and the table in which some tools lock.
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

/** A value of a connection string of libpq. */
const inConninfo = (value: string): string =>
  /^[\w./-]+$/.test(value) ? value : `'${value.replaceAll(/['\\]/g, '\\$&')}'`

/** A name as `pg_dump` takes it: bare where it stands for nothing but itself. */
const pattern = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
