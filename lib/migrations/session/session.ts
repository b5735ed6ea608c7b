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

/** A row, as values by column name. */
export type Row = Readonly<Record<string, unknown>>

/** A session that is migrating the module. */
export interface Working {
  /** The description of that session, as far as the server shows it. */
  readonly holder: string
  /** The session's number on the server. */
  readonly session: number
  /** The version that it is working on; undefined if it does not report one. */
  readonly step: { readonly direction: 'up' | 'down'; readonly version: number } | undefined
}

/** The server's report of a running statement. */
export interface Activity {
  /** The sessions that hold the lock it waits for; undefined if it waits for none, or if they are unknown. */
  readonly blockers: string | undefined
  /** Such as the phase of an index build; undefined if the server reports none. */
  readonly phase: string | undefined
}

/**
 * A connection that is pinned for a whole run. The session that does the work also holds the lock, so the
 * lock is held for exactly as long as the server works. That holds even when this process dies in the middle
 * of a statement. Methods reject with a `SessionError` or a `MigrationError`.
 */
export interface Session {
  readonly dialect: Dialect
  readonly engine: Engine
  /** The module's schema on PostgreSQL, empty on MySQL. */
  readonly schema: string
  /** True if it was set explicitly; otherwise a reader uses the connection's search path. */
  readonly isSchemaNamed?: boolean
  /** `"schema".` on PostgreSQL, empty on MySQL: the prefix of the module's tables. */
  readonly prefix: string
  /** Runs a statement of the framework. `?` stands for a value. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs a statement as written, for at most `timeoutMs` (0: no limit). PostgreSQL uses the timeouts of
   * `settle`. If `signal` aborts, the server cancels the statement.
   * @returns the number of rows written.
   */
  run(sql: string, timeoutMs: number, signal?: AbortSignal): Promise<number>
  /** Resets every setting that a file may have changed, and sets the two timeouts (0 for none). */
  settle(lockTimeoutMs: number, statementTimeoutMs: number): Promise<void>
  tryLock(): Promise<boolean>
  /** Returns the holder of the lock; undefined if there is none any more. */
  lockHolder(): Promise<Working | undefined>
  unlock(): Promise<void>
  /** Returns the session, of this host or another, that is migrating the module. */
  working(): Promise<Working | undefined>
  /** Shows other sessions which version this one is working on, from the next `settle` on. */
  announce(step: NonNullable<Working['step']>): void
  /**
   * @throws {MigrationError} if the lock was lost, or if the connection now leads to another server session.
   */
  guard(): Promise<void>
  /**
   * Returns the server's report of the statement that this session is running, over a separate connection.
   * @param hasGivenUp - the statement has just waited too long for a lock. The report then contains the
   * session that held it, if that can still be determined.
   */
  activity(hasGivenUp?: boolean): Promise<Activity>
  hasTable(name: string): Promise<boolean>
  /** Creates the module's schema if it does not exist. */
  makeSchema(): Promise<void>
  close(): Promise<void>
}

/**
 * Runs `work` on its own connection, and closes the connection afterwards. A session that makes changes
 * rejects a transaction pooler.
 * @throws {MigrationError} for anything that the server rejects, with what to do.
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

/**
 * Returns the error for one of the framework's own statements. Errors of files are reported with their
 * position.
 */
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

/** The driver's message, for which it has no code. */
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

/** Returns undefined for an invalid URL, and if a character of the password may be part of the name. */
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
 * Waits for a connection. If the run is cancelled in the meantime, `giveUp` ends the attempt.
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

/** Returns the remedies for Node's network errors. A server of another kind sends no code. */
const network = (server: EngineFailures['server']): EngineFailures['connection'] => [
  [/^(E(CONNREFUSED|TIMEDOUT|HOSTUNREACH))?$/, { kind: 'notReached', server }],
  [/^E(NOTFOUND|AI_AGAIN)$/, { kind: 'unknownHost' }],
]
