import type { MigrationStop } from '../../errors.js'
import type { Advice } from '../messages/advices.js'
import type { Broken } from '../sql/breaking-rows.js'

/**
 * The reason why a session's statement failed. `failed` covers all errors that the statement itself may have
 * caused.
 */
export type SessionFailure = Extract<
  MigrationStop,
  'failed' | 'connection' | 'denied' | 'readOnly' | 'cancelled'
>

/** The fields of driver errors that are safe to read. Other fields contain rows and statements. */
export interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly severity?: unknown
  readonly fatal?: unknown
  readonly message: string
  readonly detail?: unknown
}

/** The meaning of an engine's error codes. */
export interface EngineFailures {
  /** The server's name in messages. */
  readonly server: 'PostgreSQL' | 'MySQL'
  readonly failureOf: (error: DriverError, code: string) => SessionFailure
  /** Returns the message for a code without the row values that it quotes. */
  readonly withoutValues: (message: string, code: string) => string
  /** The codes of a lock timeout. */
  readonly lockTimeouts: readonly string[]
  /** The codes of a transaction that conflicted with another one and may be retried. */
  readonly passing: readonly string[]
  /** The codes of a cancelled statement. */
  readonly stopped: readonly string[]
  /** The codes of an object that already exists. */
  readonly duplicates: readonly string[]
  /** The codes of a missing column or table. */
  readonly missing: readonly string[]
  /** The constraint that rows violate, by error code. */
  readonly rows: Readonly<Record<string, Broken>>
  /** The codes whose detail names objects of the schema but no values. */
  readonly detailed: readonly string[]
  /** Returns the usual remedy for a code, or undefined. Most codes have none. */
  readonly hint: (code: string, schema: string, message: string) => Advice | undefined
  /** The remedies for a rejected connection, by code. */
  readonly connection: readonly (readonly [codes: RegExp, advice: Advice])[]
}
