import { Aborted, AshlarError, Internal } from '../errors.js'
import { constraintError, retryable } from './constraint-error.js'

/** What a caller is told of a failure: never a driver's error as it is, which carries SQL and values. */
export function toCaller(error: unknown): unknown {
  if (error instanceof AshlarError || error instanceof TypeError) return error
  return constraintError(error) ?? (retryable(error) ? new Aborted(undefined, error) : new Internal(error))
}
