import { serviceUrl } from '../running/services.js'
import { type TestDatabase, testDatabase } from './test-database.js'

/** Of everything that changes how PostgreSQL writes a value as text, what nobody expects. */
export const HOSTILE: Readonly<Record<string, string>> = {
  bytea_output: 'escape',
  extra_float_digits: '-15',
  DateStyle: 'German, DMY',
  TimeZone: 'Asia/Kathmandu',
  IntervalStyle: 'iso_8601',
}

/** An empty database whose sessions begin with {@link HOSTILE} settings. */
export function hostileDatabase(): Promise<TestDatabase> {
  return testDatabase('postgres', HOSTILE)
}

/**
 * Such a database as it is seen through a transaction pooler.
 * @param pooler - where the PgBouncer is; default the one of the run.
 */
export async function pooledDatabase(pooler = serviceUrl('pgbouncer')): Promise<TestDatabase> {
  if (pooler === undefined) throw new TypeError('there is no PgBouncer: see test/support/running/services.ts')
  const { url, drop } = await hostileDatabase()
  return { url: Object.assign(new URL(pooler), { pathname: new URL(url).pathname }).href, drop }
}
