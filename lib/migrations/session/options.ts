import { DeclarationError } from '../../errors.js'
import { type Dialect, dialectOf } from '../files/dialect.js'
import type { FileSource } from '../files/migration-files.js'
import type { Progress } from './progress.js'

/** What a user says about a module's migrations. */
export interface MigrateOptions {
  /** `postgres://…` or `mysql://…`; the engine opens connections of its own and never uses a pool. */
  readonly url: string
  readonly files: FileSource
  /** The module's name, for messages; its schema has the same name unless `schema` says another. */
  readonly module?: string
  /** PostgreSQL: where the files run and the version table lives; `module`, else `public`. MySQL: the URL's database. */
  readonly schema?: string
  /** How long a statement waits for a lock of its tables: 2000. */
  readonly lockTimeoutMs?: number
  /** How long a statement runs: 60000. */
  readonly statementTimeoutMs?: number
  /** How long `CREATE INDEX CONCURRENTLY` and its like run, which neither of the two others bounds: 900000 (15 min). */
  readonly concurrentTimeoutMs?: number
  /** How long to wait for another host that is migrating: 3600000 (1 h). */
  readonly waitTimeoutMs?: number
  /** Gives up: cancels the statement that runs, on the server as well, or stops waiting. What is done stays. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

export interface Timeouts {
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly concurrentTimeoutMs: number
}

export interface ResolvedOptions extends Timeouts {
  readonly url: string
  readonly dialect: Dialect
  readonly files: FileSource
  /** For messages; `the database` when nobody named the module. */
  readonly module: string
  /** Empty on MySQL. */
  readonly schema: string
  readonly waitTimeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly report: (progress: Progress) => void
}

export const DEFAULT_LOCK_TIMEOUT_MS = 2_000
export const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000
export const DEFAULT_CONCURRENT_TIMEOUT_MS = 15 * 60_000
export const DEFAULT_WAIT_TIMEOUT_MS = 60 * 60_000

/** @throws {DeclarationError} with every option that cannot be used. */
export function resolveOptions(options: MigrateOptions): ResolvedOptions {
  const dialect = dialectOf(options.url)
  const schema = options.schema ?? options.module ?? 'public'
  const times = {
    lockTimeoutMs: options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    concurrentTimeoutMs: options.concurrentTimeoutMs ?? DEFAULT_CONCURRENT_TIMEOUT_MS,
    waitTimeoutMs: options.waitTimeoutMs ?? DEFAULT_WAIT_TIMEOUT_MS,
  }
  const problems = Object.entries(times)
    .filter(([, value]) => !Number.isInteger(value) || value < 1 || value > LONGEST_MS)
    .map(([name]) => `${name} is a whole number of milliseconds from 1 to ${LONGEST_MS}`)
  if (dialect === 'mysql' && options.schema !== undefined)
    problems.push('schema is for PostgreSQL: on MySQL each module has the database of its connection string')
  if (dialect === 'postgres') problems.push(...schemaProblems(schema))
  if (problems.length > 0) throw new DeclarationError('migrations', problems)
  return {
    ...times,
    url: options.url.trim(),
    dialect,
    files: options.files,
    module: options.module ?? options.schema ?? 'the database',
    schema: dialect === 'postgres' ? schema : '',
    signal: options.signal,
    report: options.onProgress ?? (() => undefined),
  }
}

/** The largest number that PostgreSQL takes for a timeout. */
const LONGEST_MS = 2_147_483_647

function schemaProblems(schema: string): readonly string[] {
  if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > 63)
    return ['schema is a name of 1 to 63 bytes']
  return /^(pg_|information_schema$)/.test(schema) ? [`schema ${schema} belongs to PostgreSQL`] : []
}
