import { type Service, SERVICES } from './services.js'

/** The names that `BACKENDS` accepts, with the servers that each of them needs. */
const NEEDS: Readonly<Record<string, readonly Service[]>> = {
  memory: [],
  sqlite: [],
  'better-sqlite3': [],
  postgres: ['postgres'],
  pgbouncer: ['postgres', 'pgbouncer'],
  mariadb: ['mysql'],
  mysql8: ['mysql'],
  mysql: ['mysql'],
  redis: ['redis'],
  nats: ['nats'],
}

/**
 * Returns the names in `BACKENDS`; undefined if the variable is not set.
 * @throws {TypeError} for an unknown name, which would otherwise skip all tests silently.
 */
export function askedBackends(
  said: string | undefined = process.env.BACKENDS,
): readonly string[] | undefined {
  if (said === undefined) return undefined
  const names = said.split(',')
  const unknown = names.filter((name) => !Object.hasOwn(NEEDS, name))
  if (unknown.length > 0)
    throw new TypeError(
      `BACKENDS knows no ${unknown.map((name) => `"${name}"`).join(', ')}: it takes ${Object.keys(NEEDS).join(', ')}`,
    )
  return names
}

/** Returns the servers that a run with these backends needs. */
export const servicesFor = (backends: readonly string[] | undefined): readonly Service[] =>
  (Object.keys(SERVICES) as Service[]).filter(
    (service) => backends === undefined || backends.some((name) => NEEDS[name]?.includes(service)),
  )

/** Returns whether this run is in CI, where no test may be skipped for a missing server. */
export const inCi = (env: NodeJS.ProcessEnv = process.env): boolean =>
  env.CI !== undefined && env.CI !== '' && env.CI !== 'false'
