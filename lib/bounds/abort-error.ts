import { AshlarError, Cancelled } from '../errors.js'

/** The error of an aborted call: the abort reason, when that is an error of the framework. */
export const abortError = (signal: AbortSignal | undefined): AshlarError =>
  signal?.reason instanceof AshlarError ? signal.reason : new Cancelled(signal?.reason)
