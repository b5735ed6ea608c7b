import type { MigrationStop } from '../../errors.js'

/** Why a statement of a session failed. `failed` is anything that the statement itself may be to blame for. */
export type SessionFailure = Extract<
  MigrationStop,
  'failed' | 'connection' | 'denied' | 'readOnly' | 'cancelled'
>

/** Fields of the drivers' errors that are safe to read. The others repeat rows and statements. */
export interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly severity?: unknown
  readonly fatal?: unknown
  readonly message: string
}

/** What an engine's error codes mean. */
export interface EngineFailures {
  /** The server's name in messages. */
  readonly server: string
  readonly failureOf: (error: DriverError, code: string) => SessionFailure
  /** The codes of a statement that waited too long for a lock. */
  readonly lockTimeouts: readonly string[]
  /** The codes of a statement that was asked to stop. */
  readonly stopped: readonly string[]
  /** What to do about a database that takes no writes. */
  readonly writable: string
  /** What to do about a right that the user lacks, to read or to change. */
  readonly rights: (purpose: 'read' | 'change', schema: string) => string
  /** What to do about a connection that is refused, by the code. */
  readonly connection: readonly (readonly [codes: RegExp, advice: string])[]
}
