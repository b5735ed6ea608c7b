import { AshlarError, Cancelled } from '../errors.js'

/**
 * Returns the error of an aborted call: the abort reason if it is a framework error, and otherwise Cancelled.
 */
export const abortError = (signal: AbortSignal | undefined): AshlarError =>
  signal?.reason instanceof AshlarError ? signal.reason : new Cancelled(signal?.reason)
