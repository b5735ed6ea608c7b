/**
 * Servers the tests talk to. Each has an environment variable that says where it is. A PgBouncer that happens
 * to run is not taken: it has to pool transactions of every database of the PostgreSQL above.
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

/** What the test runner writes into the variable of a server that cannot be had. */
export const ABSENT = 'absent'

/**
 * Address of a server, the usual local port when nothing was said; undefined when the run does without it.
 * The runner has named it in the summary then, so a suite may `this.skip()`.
 */
export function serviceUrl(service: Service): string | undefined {
  const { variable, local } = SERVICES[service]
  const said = process.env[variable]
  if (said === ABSENT) return undefined
  return said === undefined || said === '' ? local : said
}
