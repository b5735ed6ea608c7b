import type { Dialect, MigrateOptions, Migrator } from '../../lib/migrations/index.js'
import { connectionString } from './connection-string.js'
import { hasFolder } from './next-files.js'

/** The parsed flags of a command that connects to a database. */
export interface DatabaseFlags {
  readonly url: string
  readonly files: string
  /** True if the folder, or the engine's folder, may be missing because the command creates it. */
  readonly mayBegin?: boolean | undefined
  readonly module?: string | undefined
  readonly schema?: string | undefined
  readonly 'lock-timeout'?: number | undefined
  readonly 'statement-timeout'?: number | undefined
  readonly 'concurrent-timeout'?: number | undefined
  readonly 'wait-timeout'?: number | undefined
}

/**
 * Returns the migrator's options in the flags.
 * @throws {Failure} for an invalid connection string.
 */
export async function optionsOf(flags: DatabaseFlags): Promise<MigrateOptions> {
  const given = {
    module: flags.module,
    schema: flags.schema,
    lockTimeoutMs: flags['lock-timeout'],
    statementTimeoutMs: flags['statement-timeout'],
    concurrentTimeoutMs: flags['concurrent-timeout'],
    waitTimeoutMs: flags['wait-timeout'],
  }
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { url: await connectionString(flags.url), files: flags.files, ...said }
}

/** @throws the errors of `migrate` for invalid flags. */
export async function migratorOf(
  flags: DatabaseFlags,
  running: Pick<MigrateOptions, 'onProgress' | 'signal'> = {},
): Promise<Migrator> {
  const { migrate } = await import('../../lib/migrations/index.js')
  const options = { ...(await optionsOf(flags)), ...running }
  const migrator = migrate(options)
  const isMissing = flags.mayBegin === true && !hasFolder(flags.files, migrator.database?.dialect)
  return isMissing ? migrate({ ...options, files: {} }) : migrator
}

/** Returns the engine of a connection string; undefined if it is invalid or its engine has no migrations. */
export async function dialectIn(url: string): Promise<Dialect | undefined> {
  const { migrate } = await import('../../lib/migrations/index.js')
  try {
    return migrate({ url: await connectionString(url), files: {} }).database?.dialect
  } catch {
    return undefined
  }
}
