import { shellWord } from '../../text/shell-word.js'
import type { DumpSource } from '../session/engine.js'
import { postgresConnection } from './address.js'

/** The settings of TLS that `pg` and libpq have in common. */
const TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const NOT_OF_LIBPQ = 'no-verify'

/** The command line of `pg_dump`, which asks for a password. */
export function postgresDump({ url, tables }: DumpSource): string {
  const { host, port, user, name } = postgresConnection(url)
  // The table, its sequence, and the table in which some tools lock.
  const without = tables.flatMap((table) => [`"${table}"`, `"${table}_id_seq"`, `"${table}_lock"*`])
  const tls = TLS.flatMap((key) => {
    const value = url.searchParams.get(key)
    return value === null || value === NOT_OF_LIBPQ ? [] : [`${key}=${inConninfo(value)}`]
  })
  return [
    ...['pg_dump', '--schema-only', '--no-owner', '--no-privileges'],
    ...without.map((pattern) => `--exclude-table=*.${pattern}`),
    ...[`--host=${host}`, `--port=${port}`, `--username=${user}`],
    `--dbname=${tls.length === 0 ? name : [`dbname=${inConninfo(name)}`, ...tls].join(' ')}`,
  ]
    .map(shellWord)
    .join(' ')
}

/** A value of a connection string of libpq. */
const inConninfo = (value: string): string =>
  /^[\w./-]+$/.test(value) ? value : `'${value.replaceAll(/['\\]/g, '\\$&')}'`
