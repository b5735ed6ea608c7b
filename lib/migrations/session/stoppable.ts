import { SessionError } from './session-error.js'

/** What stops a statement before it ends by itself. */
export interface Bounds {
  /** 0 for none. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

export interface Stopping {
  /** The codes of a statement that was asked to stop. */
  readonly stopped: readonly string[]
  /** Asks the server to stop the statement that runs. Whoever waits for anything else waits until `ended` aborts at most. */
  readonly stop: (ended: AbortSignal) => Promise<void>
  /** Runs something harmless in its place: a request to stop that comes too late must not end the next statement. */
  readonly absorb: () => Promise<unknown>
}

/** Waits for a statement within its bounds. @throws {SessionError} */
export async function stoppable<T>(
  work: () => Promise<T>,
  { timeoutMs, signal }: Bounds,
  { stopped, stop, absorb }: Stopping,
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
    return await work()
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

/** @throws {SessionError} instead of sending what the caller does not want any more. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (isAborted(signal)) throw new SessionError('it was not sent', '', 'cancelled')
}

export const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true
