import type { CallEnd } from '../../../call-end.js'
import { AshlarError, Cancelled, DeadlineExceeded } from '../../../errors.js'

/** Returns the caller's error for an aborted signal: the signal's reason if it is an Ashlar error. */
export function cancellation(signal: CallEnd | undefined, cause?: unknown): AshlarError {
  const reason: unknown = signal?.reason
  if (reason instanceof AshlarError) return reason
  if (reason instanceof DOMException && reason.name === 'TimeoutError')
    return new DeadlineExceeded(undefined, cause ?? reason)
  return new Cancelled(cause ?? reason)
}
