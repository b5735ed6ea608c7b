import { AshlarError, Cancelled, DeadlineExceeded } from '../../../errors.js'

/** Why a signal aborted, as the error its caller gets: its own reason when that is one of ours. */
export function cancellation(signal: AbortSignal | undefined, cause?: unknown): AshlarError {
  const reason: unknown = signal?.reason
  if (reason instanceof AshlarError) return reason
  if (reason instanceof DOMException && reason.name === 'TimeoutError')
    return new DeadlineExceeded(undefined, cause ?? reason)
  return new Cancelled(cause ?? reason)
}
