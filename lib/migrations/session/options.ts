import type { FileSource } from '../files/migration-files.js'
import type { Engine } from './engine.js'
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
  readonly engine: Engine
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
