import { setTimeout as delay } from 'node:timers/promises'
import type { CallEnd } from '../../../call-end.js'
import { Aborted, Cancelled, DeadlineExceeded, Unavailable } from '../../../errors.js'
import { isInstance } from '../../../faults/readable.js'
import { cancellation } from './cancellation.js'
import { driverErrors } from './driver-errors.js'
import { StaleStatement } from './stale-statement.js'

const RETRYABLE_STATES = new Set<unknown>(['40001', '40P01', '55P03'])
const RETRYABLE_ERRNOS = new Set<unknown>([1020, 1205, 1213, 3572])

/** The codes for a locked row, which is reported immediately (NOWAIT) or after the engine's lock timeout. */
const LOCKED = new Set<unknown>(['55P03', 1205, 3572])

/**
 * Returns true if repeating the same work may succeed: after a deadlock, a serialization failure, a lock
 * timeout or an outdated plan, even if the error is wrapped. Returns false if the commit may have succeeded
 * or the caller has left.
 */
export function retryable(error: unknown): boolean {
  if ([Unavailable, Cancelled, DeadlineExceeded].some((type) => isInstance(error, type))) return false
  const errors = driverErrors(error)
  if (errors.some(({ thrown }) => isInstance(thrown, StaleStatement))) return true
  return errors.some(
    ({ code, errno, sqlState }) =>
      (typeof sqlState === 'string' && RETRYABLE_ERRNOS.has(errno)) ||
      (typeof code === 'string' && (RETRYABLE_STATES.has(code) || code.startsWith('SQLITE_BUSY'))),
  )
}

/** Returns the caller's error for a {@link retryable} error, with advice if a lock was the cause. */
export function abortedBy(error: unknown): Aborted {
  if (isInstance(error, Aborted)) return error as Aborted
  const isLocked = driverErrors(error).some(
    ({ code, errno, sqlState }) => LOCKED.has(code) || (typeof sqlState === 'string' && LOCKED.has(errno)),
  )
  return new Aborted(
    isLocked ? 'another transaction has locked a row: run the whole transaction again' : undefined,
    error,
  )
}

export interface RetryOptions {
  /** The maximum number of attempts, including the first. Default: 4. */
  readonly maxAttempts?: number
  readonly signal?: CallEnd | undefined
}

/**
 * Runs an operation, and repeats it after conflicts with other writers, with growing random pauses.
 *
 * @throws Aborted if the last attempt fails.
 */
export async function withRetries<T>(
  operation: () => Promise<T>,
  { maxAttempts = 4, signal }: RetryOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation()
    } catch (error) {
      if (!retryable(error)) throw error
      if (signal?.aborted === true) throw cancellation(signal, error)
      if (attempt >= maxAttempts) throw abortedBy(error)
      await delay(Math.random() * 10 * 2 ** attempt)
    }
  }
}
