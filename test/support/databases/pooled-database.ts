import { serviceUrl } from '../running/services.js'
import { type TestDatabase, testDatabase } from './test-database.js'

/** Unusual values of all settings that change how PostgreSQL formats values. */
export const HOSTILE: Readonly<Record<string, string>> = {
  bytea_output: 'escape',
  extra_float_digits: '-15',
  DateStyle: 'German, DMY',
  TimeZone: 'Asia/Kathmandu',
  IntervalStyle: 'iso_8601',
}

/** Creates an empty database whose sessions begin with {@link HOSTILE} settings. */
export function hostileDatabase(): Promise<TestDatabase> {
  return testDatabase('postgres', HOSTILE)
}

/**
 * Creates such a database behind a transaction pooler.
 *
 * @param pooler - the address of PgBouncer. Default: the one of the run.
 */
export async function pooledDatabase(pooler = serviceUrl('pgbouncer')): Promise<TestDatabase> {
  if (pooler === undefined) throw new TypeError('there is no PgBouncer: see test/support/running/services.ts')
  const { url, drop } = await hostileDatabase()
  return { url: Object.assign(new URL(pooler), { pathname: new URL(url).pathname }).href, drop }
}
