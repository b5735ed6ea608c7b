import { ServerError } from 'nice-grpc-common'
import { AshlarError, Cancelled, CODES, type Code, DeadlineExceeded, Internal } from '../../errors.js'
import {
  constraintError,
  readOnlyError,
  resourceError,
} from '../../persistence/engines/errors/constraint-error.js'
import { errorForLog, withoutValues } from '../../faults/driver-fault.js'
import { isInstance, propertyOf } from '../../faults/readable.js'

/** The reasons for which a failed call may have been ended early. */
export interface CallOutcome {
  readonly expired: boolean
  readonly cancelled: boolean
  /** The error that the caller received, if the call was ended before its handler returned. */
  readonly ended?: AshlarError | undefined
}

/**
 * Converts any thrown value to an error for callers. Unknown errors become Internal with the value as cause,
 * without the statements and rows that a database driver attaches.
 */
export const toAshlarError = (error: unknown, outcome: CallOutcome): AshlarError => {
  if (isInstance(error, AshlarError)) return error
  if (isInstance(error, ServerError)) return fromNiceGrpc(error)
  if (isAbort(error)) {
    if (outcome.expired) return new DeadlineExceeded(undefined, error)
    if (outcome.cancelled) return new Cancelled(error)
    if (outcome.ended !== undefined) return outcome.ended
  }
  return (
    constraintError(error) ??
    readOnlyError(error) ??
    resourceError(error) ??
    new Internal(withoutValues(error))
  )
}

/**
 * Returns what to log about an error's cause, or about the error itself if it has no cause: name, message and
 * stack, but never a row or statement that a driver attached.
 */
export const causeOf = (error: AshlarError): object =>
  errorForLog(isInstance(error.cause, Error) ? error.cause : error)

/** Converts an error of nice-grpc. Its message was written for the caller, so it is kept. */
const fromNiceGrpc = (error: ServerError): AshlarError => {
  const code = (Object.keys(CODES) as Code[]).find((name) => CODES[name] === Number(error.code))
  if (code === undefined || code === 'OK' || code === 'INTERNAL' || code === 'UNKNOWN')
    return new Internal(error)
  return new AshlarError(code, error.details, { cause: error })
}

const isAbort = (error: unknown): boolean =>
  isInstance(error, Error) && ['AbortError', 'TimeoutError'].includes(String(propertyOf(error, 'name')))
