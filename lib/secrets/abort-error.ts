import { AshlarError, Cancelled } from '../errors.js'

/** What a call that was given up rejects with: the reason it was aborted for, when that is one of ours. */
export const abortError = (signal: AbortSignal | undefined): AshlarError =>
  signal?.reason instanceof AshlarError ? signal.reason : new Cancelled(signal?.reason)
