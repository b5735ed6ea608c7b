import type { MigrationError } from '../errors.js'
import { dialectOf, engineOf } from './engines.js'
import type { FileProblem } from './messages/file-problems.js'
import { declarationError } from './messages/problem.js'
import type { DatabaseAddress } from './session/engine.js'
import type { SessionFailure } from './session/engine-failures.js'
import {
  DEFAULT_CONCURRENT_TIMEOUT_MS,
  DEFAULT_LOCK_TIMEOUT_MS,
  DEFAULT_STATEMENT_TIMEOUT_MS,
  DEFAULT_WAIT_TIMEOUT_MS,
  type MigrateOptions,
  type ResolvedOptions,
} from './session/migrate-options.js'
import { addressOf, connectionFailed } from './session/session.js'
import { sessionError } from './session/session-error.js'

/**
 * Checks the options and adds their defaults.
 *
 * @throws {DeclarationError} with every invalid option.
 */
export function resolveOptions(options: MigrateOptions): ResolvedOptions {
  const engine = engineOf(dialectOf(options.url))
  const schema = engine.schemaOf(options.schema, options.module)
  const times = {
    lockTimeoutMs: options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    concurrentTimeoutMs: options.concurrentTimeoutMs ?? DEFAULT_CONCURRENT_TIMEOUT_MS,
    waitTimeoutMs: options.waitTimeoutMs ?? DEFAULT_WAIT_TIMEOUT_MS,
  }
  const problems = Object.entries(times)
    .filter(([, value]) => !Number.isInteger(value) || value < 1 || value > LONGEST_MS)
    .map(([option]): FileProblem => ({ kind: 'badTimeout', option, most: LONGEST_MS }))
  problems.push(...engine.schemaProblems(options.schema, schema))
  // An invalid URL is reported when connecting.
  const url = options.url.trim()
  const problem = URL.canParse(url) ? engine.urlProblem(new URL(url)) : undefined
  if (problem !== undefined) problems.push(problem)
  if (problems.length > 0) throw declarationError('migrations', problems)
  return {
    ...times,
    url,
    engine,
    files: options.files,
    module: options.module ?? options.schema,
    schema,
    isSchemaNamed: (options.schema ?? options.module) !== undefined,
    signal: options.signal,
    report: options.onProgress ?? (() => undefined),
  }
}

/** The largest timeout that PostgreSQL accepts. */
const LONGEST_MS = 2_147_483_647

/**
 * A database that other code connects to, and the interpretation of its errors.
 * @internal
 */
export interface NamedDatabase {
  /**
   * Undefined if the connection string is not a URL. Contains the schema in use even if the options name
   * none.
   */
  readonly address: DatabaseAddress | undefined
  /** Returns the error for a failed connection. It contains no password. */
  readonly connectionFailed: (error: unknown) => MigrationError
  /** Returns the meaning of the server's error, without values from rows. */
  readonly failureOf: (error: unknown) => SessionFailure
}

/**
 * Returns a database's address and error handling. Opens no connection.
 *
 * @internal
 * @throws {DeclarationError} if the schema is invalid.
 * @throws {Unimplemented} for SQLite.
 */
export function namedDatabase(said: Pick<MigrateOptions, 'url' | 'schema'>): NamedDatabase {
  const options = resolveOptions({ ...said, files: {} })
  return {
    address: addressOf(options),
    connectionFailed: (error) => connectionFailed(error, options),
    failureOf: (error) => sessionError(error, options.engine.failures, options.url).failure,
  }
}
