import { type Service, SERVICES } from './services.js'

/** What `BACKENDS` may name, with the servers that each of them needs. */
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
 * The names in `BACKENDS`; undefined when nothing narrows the run.
 * @throws {TypeError} for a name that nothing has: it would leave out everything without a word.
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

/** The servers that a run with these backends talks to. */
export const servicesFor = (backends: readonly string[] | undefined): readonly Service[] =>
  (Object.keys(SERVICES) as Service[]).filter(
    (service) => backends === undefined || backends.some((name) => NEEDS[name]?.includes(service)),
  )

/** True if this is a run that must not leave anything out. */
export const inCi = (env: NodeJS.ProcessEnv = process.env): boolean =>
  env.CI !== undefined && env.CI !== '' && env.CI !== 'false'
