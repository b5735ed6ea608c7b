import { SessionError } from './session-error.js'

/** The limits that can stop a statement before it ends. */
export interface Bounds {
  /** The maximum duration in milliseconds. 0 means no limit. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

export interface Stopping {
  /** The codes of a cancelled statement. */
  readonly stopped: readonly string[]
  /** Requests that the server cancel the running statement. Stops waiting when `ended` aborts. */
  readonly stop: (ended: AbortSignal) => Promise<void>
  /**
   * Runs a harmless statement that absorbs a delayed cancel request, so that it does not cancel the next
   * statement.
   */
  readonly absorb: () => Promise<unknown>
  /** True if a cancelled statement may return as if it had completed. */
  readonly mayEndQuietly: boolean
}

/**
 * Waits for a statement within its timeout.
 *
 * @throws {SessionError}
 */
export async function stoppable<T>(
  work: () => Promise<T>,
  { timeoutMs, signal }: Bounds,
  { stopped, stop, absorb, mayEndQuietly }: Stopping,
): Promise<T> {
  refuseAborted(signal)
  let stopping: Promise<void> | undefined
  const ended = new AbortController()
  const ask = () => {
    stopping ??= stop(ended.signal)
  }
  const timer = timeoutMs > 0 ? setTimeout(ask, timeoutMs) : undefined
  signal?.addEventListener('abort', ask)
  try {
    const result = await work()
    if (stopping !== undefined && mayEndQuietly)
      throw new SessionError('it was interrupted, or ended at that moment', stopped[0] ?? '', 'failed')
    return result
  } catch (error) {
    if (isAborted(signal) && error instanceof SessionError && stopped.includes(error.code))
      throw new SessionError(error.message, error.code, 'cancelled')
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', ask)
    ended.abort()
    await stopping
    if (stopping !== undefined) await absorb().catch(() => undefined)
  }
}

/**
 * Rejects a statement whose run was cancelled.
 *
 * @throws {SessionError} if the caller has cancelled, so that the statement is not sent.
 */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (isAborted(signal)) throw new SessionError('it was not sent', '', 'cancelled')
}

export const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true
