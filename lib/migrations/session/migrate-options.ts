import type { FileSource } from '../files/migration-files.js'
import type { Engine } from './engine.js'
import type { Session } from './session.js'
import type { Progress } from './progress.js'

/** The options of a module's migrations. */
export interface MigrateOptions {
  /** `postgres://…` or `mysql://…`. Migrations open their own connections and never use a pool. */
  readonly url: string
  readonly files: FileSource
  /** The module's name, for messages. It is also the name of its schema, unless `schema` names another. */
  readonly module?: string
  /**
   * PostgreSQL: the schema of the files and the version table. Default `module`, or `public`. MySQL: always
   * the URL's database.
   */
  readonly schema?: string
  /** Milliseconds a statement waits for table locks. Default 2000. */
  readonly lockTimeoutMs?: number
  /** Milliseconds a statement may run. Default 60000. */
  readonly statementTimeoutMs?: number
  /**
   * Milliseconds `CREATE INDEX CONCURRENTLY` and similar statements may run. The other two timeouts do not
   * apply to them. Default 900000 (15 min).
   */
  readonly concurrentTimeoutMs?: number
  /** Milliseconds to wait for another host that is migrating. Default 3600000 (1 h). */
  readonly waitTimeoutMs?: number
  /**
   * Cancels the running statement, on the server as well, or ends the wait for another host. Completed work
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
  /** Empty on MySQL. */
  readonly schema: string
  /** True if it was set explicitly. */
  readonly isSchemaNamed: boolean
  readonly waitTimeoutMs: number
  readonly signal: AbortSignal | undefined
  /**
   * Inspects the effects of a file in its transaction, before its COMMIT. Only on engines whose transactions
   * include DDL.
   */
  readonly inspect?: (session: Session) => Promise<void>
  readonly report: (progress: Progress) => void
  /** True if the database is dropped afterwards: the remains of a file need no cleanup. */
  readonly isScratch?: boolean
}

export const DEFAULT_LOCK_TIMEOUT_MS = 2_000
export const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000
export const DEFAULT_CONCURRENT_TIMEOUT_MS = 15 * 60_000
export const DEFAULT_WAIT_TIMEOUT_MS = 60 * 60_000
