import { Client } from 'pg'
import { ABSENT } from './services.js'

/** The number of connections to PostgreSQL for each database. */
export const PGBOUNCER_POOL = 4

/**
 * Returns the configuration of a PgBouncer with transaction pooling for all databases of a PostgreSQL. It has
 * few server connections and uses a different one for each transaction, so that a session setting of one
 * transaction is missing in the next.
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

/** Switches a PgBouncer to session pooling, so that a client keeps its session until it disconnects. */
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
