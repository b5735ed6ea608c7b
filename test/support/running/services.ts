/**
 * The servers that tests connect to. An environment variable holds the address of each. A PgBouncer that is
 * already running is not used, because it must pool transactions for every database of the PostgreSQL above.
 */
export const SERVICES = {
  postgres: {
    variable: 'ASHLAR_TEST_POSTGRES_URL',
    local: 'postgres://postgres@127.0.0.1:5432/postgres',
    debian: 'postgresql',
  },
  pgbouncer: { variable: 'ASHLAR_TEST_PGBOUNCER_URL', local: undefined, debian: 'pgbouncer' },
  mysql: {
    variable: 'ASHLAR_TEST_MYSQL_URL',
    local: 'mysql://root@127.0.0.1:3306/test',
    debian: 'mariadb-server',
  },
  redis: { variable: 'ASHLAR_TEST_REDIS_URL', local: 'redis://127.0.0.1:6379', debian: 'redis-server' },
  nats: { variable: 'ASHLAR_TEST_NATS_URL', local: 'nats://127.0.0.1:4222', debian: 'nats-server' },
} as const

export type Service = keyof typeof SERVICES

/** The value of the variable if the server is not available. */
export const ABSENT = 'absent'

/**
 * Returns the address of a server, by default on its usual local port; undefined if the run does not have it.
 * The summary of the run then names the server, so a suite may call `this.skip()`.
 */
export function serviceUrl(service: Service): string | undefined {
  const { variable, local } = SERVICES[service]
  const said = process.env[variable]
  if (said === ABSENT) return undefined
  return said === undefined || said === '' ? local : said
}
