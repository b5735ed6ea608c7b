import { ServerError } from 'nice-grpc-common'
import { AshlarError, Cancelled, CODES, type Code, DeadlineExceeded, Internal } from '../errors.js'
import { constraintError } from '../persistence/constraint-error.js'
import { withoutValues } from '../resource/driver-fault.js'

/** What is known about the time of the work that failed. */
export interface Fate {
  readonly expired: boolean
  readonly cancelled: boolean
}

/**
 * Any thrown value as an error made for callers. What is not known becomes Internal with the value as its cause, less the
 * statements and rows that a database driver hung on it.
 */
export const toAshlarError = (error: unknown, fate: Fate): AshlarError => {
  if (error instanceof AshlarError) return error
  if (error instanceof ServerError) return fromNiceGrpc(error)
  if (isAbort(error)) {
    if (fate.expired) return new DeadlineExceeded(undefined, error)
    if (fate.cancelled) return new Cancelled(error)
  }
  return constraintError(error) ?? new Internal(withoutValues(error))
}

/** What there is to know for the log: name, message and stack, never the row or statement a driver attached. */
export const causeOf = (error: AshlarError): object => {
  const cause = withoutValues(error.cause instanceof Error ? error.cause : error) as Error
  return { name: cause.name, message: cause.message, stack: cause.stack }
}

/** nice-grpc's error is its user's explicit word to the caller. */
const fromNiceGrpc = (error: ServerError): AshlarError => {
  const code = (Object.keys(CODES) as Code[]).find((name) => CODES[name] === Number(error.code))
  if (code === undefined || code === 'OK' || code === 'INTERNAL' || code === 'UNKNOWN')
    return new Internal(error)
  return new AshlarError(code, error.details, { cause: error })
}

const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
