import type { FileSource } from '../files/migration-files.js'
import type { Engine } from './engine.js'
import type { Session } from './session.js'
import type { Progress } from './progress.js'

/** The options of a module's migrations. */
export interface MigrateOptions {
  /**
   * The connection string, `postgres://…` or `mysql://…`. Migrations open their own connections and never use
   * a pool.
   */
  readonly url: string
  readonly files: FileSource
  /** The module's name in messages. It is also the name of its schema unless `schema` is set. */
  readonly module?: string
  /**
   * The schema of the files and the version table on PostgreSQL. Default: `module`, or `public`. On MySQL it
   * is always the URL's database.
   */
  readonly schema?: string
  /** The time in milliseconds that a statement waits for table locks. Default: 2000. */
  readonly lockTimeoutMs?: number
  /** The maximum duration of a statement in milliseconds. Default: 60000. */
  readonly statementTimeoutMs?: number
  /**
   * The maximum duration in milliseconds of `CREATE INDEX CONCURRENTLY` and similar statements, for which the
   * other two timeouts do not apply. Default: 900000 (15 min).
   */
  readonly concurrentTimeoutMs?: number
  /** The time in milliseconds to wait for another host that is migrating. Default: 3600000 (1 h). */
  readonly waitTimeoutMs?: number
  /**
   * Cancels the running statement, also on the server, or ends the wait for another host. Completed work
   * remains.
   */
  readonly signal?: AbortSignal
  /** Called when a version begins and ends, and periodically during a long statement. */
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
  /** The module's name in messages. */
  readonly module: string | undefined
  /** The schema. Empty on MySQL. */
  readonly schema: string
  /** True if the schema was set explicitly. */
  readonly isSchemaNamed: boolean
  readonly waitTimeoutMs: number
  readonly signal: AbortSignal | undefined
  /**
   * Inspects the effects of a file in its transaction, before the COMMIT. Only called on engines whose
   * transactions include DDL.
   */
  readonly inspect?: (session: Session) => Promise<void>
  readonly report: (progress: Progress) => void
  /** True if the database is dropped afterwards, so that the remains of a file need no cleanup. */
  readonly isScratch?: boolean
}

export const DEFAULT_LOCK_TIMEOUT_MS = 2_000
export const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000
export const DEFAULT_CONCURRENT_TIMEOUT_MS = 15 * 60_000
export const DEFAULT_WAIT_TIMEOUT_MS = 60 * 60_000
