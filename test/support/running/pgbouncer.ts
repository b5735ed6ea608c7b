import { Client } from 'pg'
import { ABSENT } from './services.js'

/** Connections to PostgreSQL for each database. */
export const PGBOUNCER_POOL = 4

/**
 * The configuration of a PgBouncer that pools transactions of every database of a PostgreSQL: few sessions,
 * and each transaction on another one than the last, so that what is set on one is missing on the next.
 */
export const pgBouncerSettings = (port: number, postgres: string | undefined): string => `[databases]
* = ${connectionOf(postgres)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = admin
pool_mode = transaction
default_pool_size = ${PGBOUNCER_POOL}
server_round_robin = 1
max_client_conn = 300
server_login_retry = 1
`

/** From now on a client of that PgBouncer keeps its session for as long as it is connected. */
export async function poolSessions(url: string): Promise<void> {
  const console = new Client({
    connectionString: Object.assign(new URL(url), { username: 'admin', pathname: '/pgbouncer' }).href,
  })
  await console.connect()
  try {
    await console.query("SET pool_mode = 'session'")
  } finally {
    await console.end()
  }
}

function connectionOf(url: string | undefined): string {
  if (url === undefined || url === ABSENT)
    throw new TypeError('it stands before a PostgreSQL, and there is none')
  const { hostname, port, username, password } = new URL(url)
  const quoted = (text: string) => `'${decodeURIComponent(text).replaceAll("'", "''")}'`
  const login = `user=${quoted(username)}${password === '' ? '' : ` password=${quoted(password)}`}`
  return `host=${hostname} port=${port || '5432'} ${login}`
}
