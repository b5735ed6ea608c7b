import { MigrationError } from '../errors.js'
import type { Dialect } from './dialect.js'
import type { ResolvedOptions } from './options.js'
import { redact } from './redact.js'

export type Row = Readonly<Record<string, unknown>>

/**
 * One connection of the engine's own, pinned for a whole run: the lock is held by the session that does the work, so it is
 * held for exactly as long as the server works, even when this process dies in the middle of a statement.
 */
export interface Session {
  readonly dialect: Dialect
  /** The module's schema on PostgreSQL, empty on MySQL. */
  readonly schema: string
  /** `"schema".` on PostgreSQL, empty on MySQL: what a table of the module is qualified with. */
  readonly prefix: string
  /** Runs a statement of the engine's own. `?` stands for a value. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Runs a statement as written, for at most `timeoutMs` (0: no bound). PostgreSQL goes by what `settle` said. */
  run(sql: string, timeoutMs: number): Promise<void>
  /** Puts every setting back that a file may have changed, with the two timeouts (0 for none). */
  settle(lockTimeoutMs: number, statementTimeoutMs: number): Promise<void>
  tryLock(): Promise<boolean>
  /** Who holds the lock; empty when nobody does any more. */
  lockHolder(): Promise<string>
  unlock(): Promise<void>
  /** @throws {MigrationError} when the lock is not held any more or another server session answers. */
  guard(): Promise<void>
  hasTable(name: string): Promise<boolean>
  /** Makes the module's schema when it is not there yet. */
  makeSchema(): Promise<void>
  close(): Promise<void>
}

/** What the drivers' errors have in common. Their other fields repeat rows and statements, and are not looked at. */
interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly message: string
}

/** An error as it may be shown and stored: without the connection string's password and without values. */
export interface Described {
  readonly text: string
  /** PostgreSQL's five characters, MySQL's number, or what Node says of the connection. */
  readonly code: string
}

export function describeError(error: unknown, url: string): Described {
  const { code, errno, message } = error as DriverError
  const number = typeof errno === 'number' && errno > 0 ? String(errno) : typeof code === 'string' ? code : ''
  const text = message.replace(/^(Duplicate entry) '.*' (for key)/s, '$1 $2')
  return { text: redact(text === '' ? number : text, url), code: number }
}

const NO_URL =
  'the connection string is no URL; write special characters of user and password as %XX, and a number as port'

export function connectionFailed(error: unknown, { url, dialect }: ResolvedOptions): MigrationError {
  const { text: said, code } = describeError(error, url)
  const text = code === 'ERR_INVALID_URL' ? NO_URL : said
  const server = dialect === 'postgres' ? 'PostgreSQL' : 'MySQL'
  return new MigrationError('connection', `no connection to ${server}: ${text}`, undefined, code)
}
