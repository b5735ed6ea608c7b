import type { MigrationError } from '../../errors.js'
import type { Advice } from '../messages/advices.js'
import { stopped } from '../messages/problem.js'
import { adviceFor } from './advice.js'
import type { Dialect } from '../files/dialect-name.js'
import type { DatabaseAddress, Engine } from './engine.js'
import type { ResolvedOptions } from './migrate-options.js'
import type { EngineFailures } from './engine-failures.js'
import { SessionError, sessionError } from './session-error.js'
import { isAborted } from './stoppable.js'

/** The values of a row by column name. */
export type Row = Readonly<Record<string, unknown>>

/** A session that is migrating the module. */
export interface Working {
  /** The session's description, as far as the server provides it. */
  readonly holder: string
  /** The number of the session on the server. */
  readonly session: number
  /** The version that it is working on. Undefined if it does not report one. */
  readonly step: { readonly direction: 'up' | 'down'; readonly version: number } | undefined
}

/** The server's report of a running statement. */
export interface Activity {
  /**
   * The sessions that hold the lock for which the statement waits. Undefined if it does not wait, or if they
   * are unknown.
   */
  readonly blockers: string | undefined
  /** The phase, for example of an index build. Undefined if the server reports none. */
  readonly phase: string | undefined
}

/**
 * A connection that is used for a whole run. The session that does the work also holds the lock. The lock is
 * therefore held exactly as long as the server works, even if this process dies during a statement. Methods
 * reject with a `SessionError` or a `MigrationError`.
 */
export interface Session {
  readonly dialect: Dialect
  readonly engine: Engine
  /** The module's schema on PostgreSQL. Empty on MySQL. */
  readonly schema: string
  /**
   * True if the schema was set explicitly. Otherwise sessions that only read use the connection's search
   * path.
   */
  readonly isSchemaNamed?: boolean
  /** The prefix of the module's tables: `"schema".` on PostgreSQL, empty on MySQL. */
  readonly prefix: string
  /** Runs a statement of Ashlar's. `?` is a placeholder. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs a statement as written, for at most `timeoutMs` milliseconds; 0 means no limit. On PostgreSQL the
   * timeouts of `settle` apply instead. If `signal` aborts, the server cancels the statement.
   *
   * @returns the number of written rows.
   */
  run(sql: string, timeoutMs: number, signal?: AbortSignal): Promise<number>
  /** Resets every setting that a file may have changed, and sets the two timeouts. 0 means no timeout. */
  settle(lockTimeoutMs: number, statementTimeoutMs: number): Promise<void>
  tryLock(): Promise<boolean>
  /** Returns the holder of the lock, or undefined if it has been released. */
  lockHolder(): Promise<Working | undefined>
  unlock(): Promise<void>
  /** Returns the session, of this or another host, that is migrating the module. */
  working(): Promise<Working | undefined>
  /** Shows other sessions the version that this session works on, after the next `settle`. */
  announce(step: NonNullable<Working['step']>): void
  /**
   * Checks that the session still holds the lock.
   *
   * @throws {MigrationError} if the lock was lost, or if the connection has moved to another server
   * session.
   */
  guard(): Promise<void>
  /**
   * Returns the server's report of the statement that this session is running, using a separate connection.
   *
   * @param hasGivenUp - true if the statement has just waited too long for a lock. The report then contains
   *   the session that held it, if it can still be determined.
   */
  activity(hasGivenUp?: boolean): Promise<Activity>
  hasTable(name: string): Promise<boolean>
  /** Creates the module's schema if it does not exist. */
  makeSchema(): Promise<void>
  close(): Promise<void>
}

/**
 * Runs `work` on its own connection and then closes it. Sessions that make changes reject a transaction
 * pooler.
 *
 * @throws {MigrationError} for everything that the server rejects, with advice.
 */
export async function withSession<T>(
  options: ResolvedOptions,
  purpose: 'change' | 'read',
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await options.engine.open(options, purpose)
  try {
    return await work(session)
  } catch (error) {
    throw error instanceof SessionError ? stoppedBy(error, options, purpose) : error
  } finally {
    await session.close()
  }
}

/** Returns the error for one of Ashlar's own statements. Errors of files are reported with their position. */
function stoppedBy(
  error: SessionError,
  options: ResolvedOptions,
  purpose: 'change' | 'read',
): MigrationError {
  const { message, code: sqlState, failure } = error
  const isRefused = failure === 'denied' || failure === 'readOnly'
  return stopped(failure, {
    kind: 'serverRefused',
    message,
    sqlState,
    advice: adviceFor(failure, sqlState, options, purpose),
    // MySQL may have completed a statement whose row can no longer be written.
    isUndone: isRefused && purpose === 'change' && options.engine.hasTransactionalDdl,
    mayBeFile: failure === 'failed',
  })
}

const NO_URL =
  'the connection string is not a URL; percent-encode special characters in the user and password as %XX, and use a number as the port'

/** Matches the driver's message, because the error has no code. */
const NO_TLS = /does not support SSL/i

export function connectionFailed(error: unknown, options: ResolvedOptions): MigrationError {
  const { url, engine } = options
  const failure = error instanceof SessionError ? error : sessionError(error, engine.failures, url)
  const { message, code: sqlState } = failure
  const { server, connection } = engine.failures
  const advice: Advice | undefined = NO_TLS.test(message)
    ? { kind: 'noTls', server }
    : [...connection, ...network(server)].find(([codes]) => codes.test(sqlState))?.[1]
  return stopped('connection', {
    kind: 'noConnection',
    server,
    address: addressOf(options),
    reason: sqlState === 'ERR_INVALID_URL' ? NO_URL : message.replace(/\.$/, ''),
    advice,
    sqlState,
  })
}

/** Returns undefined if the URL is invalid, or if a character of the password may be part of the name. */
export function addressOf({
  url,
  engine,
  schema,
}: Pick<ResolvedOptions, 'url' | 'engine' | 'schema'>): DatabaseAddress | undefined {
  if (!URL.canParse(url)) return undefined
  try {
    const address = engine.addressOf(new URL(url), schema)
    return /[@/]/.test(address.name) ? undefined : address
  } catch {
    // The URL contains an invalid escape such as %zz.
    return undefined
  }
}

/**
 * Waits for a connection. If the run is cancelled meanwhile, `giveUp` ends the attempt.
 *
 * @throws {MigrationError}
 */
export async function connected<T>(
  options: ResolvedOptions,
  connection: () => Promise<T>,
  giveUp: () => void,
): Promise<T> {
  const { signal } = options
  // A connection that cancels a statement is opened after the signal has aborted.
  const mayStop = signal?.aborted === false
  signal?.addEventListener('abort', giveUp)
  try {
    return await connection()
  } catch (error) {
    if (!mayStop || !isAborted(signal)) throw connectionFailed(error, options)
    throw stopped('cancelled', { kind: 'cancelledConnecting' })
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Returns the remedies for Node's network errors. A server that is not a database sends no code. */
const network = (server: EngineFailures['server']): EngineFailures['connection'] => [
  [/^(E(CONNREFUSED|TIMEDOUT|HOSTUNREACH))?$/, { kind: 'notReached', server }],
  [/^E(NOTFOUND|AI_AGAIN)$/, { kind: 'unknownHost' }],
]
