import type { MigrationStop } from '../../errors.js'
import type { Advice } from '../messages/advices.js'
import type { Broken } from '../sql/breaking-rows.js'

/** Why a statement of a session failed. `failed` is any error that the statement itself may have caused. */
export type SessionFailure = Extract<
  MigrationStop,
  'failed' | 'connection' | 'denied' | 'readOnly' | 'cancelled'
>

/** Fields of driver errors that are safe to read. The others repeat rows and statements. */
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
  /** The message of a code without the values of rows that it quotes. */
  readonly withoutValues: (message: string, code: string) => string
  /** The codes of a lock timeout. */
  readonly lockTimeouts: readonly string[]
  /** The codes of a transaction that another transaction blocked: it may be tried again. */
  readonly passing: readonly string[]
  /** The codes of a cancelled statement. */
  readonly stopped: readonly string[]
  /** The codes of an existing object. */
  readonly duplicates: readonly string[]
  /** The codes of a missing column or table. */
  readonly missing: readonly string[]
  /** The rule that rows break if a statement does not fit, by code. */
  readonly rows: Readonly<Record<string, Broken>>
  /** The codes whose detail names objects of the schema, and no value. */
  readonly detailed: readonly string[]
  /** The usual meaning of a code, and its remedy; undefined for most. */
  readonly hint: (code: string, schema: string, message: string) => Advice | undefined
  /** The remedy for a refused connection, by code. */
  readonly connection: readonly (readonly [codes: RegExp, advice: Advice])[]
}
