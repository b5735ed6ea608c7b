import type { AshlarError } from '../../errors.js'

/** When a call is repeated. */
export interface RetryOptions {
  /** All attempts of a call, the first included. Default 4. */
  readonly maxAttempts?: number
  /**
   * The longest pause before the second attempt, in milliseconds; it doubles with each attempt. Default 100.
   */
  readonly initialPauseMs?: number
  /** The longest pause, in milliseconds. Default 5000. */
  readonly maxPauseMs?: number
}

export type RetryPolicy = Required<RetryOptions>

const DEFAULTS: RetryPolicy = { maxAttempts: 4, initialPauseMs: 100, maxPauseMs: 5_000 }

/** @throws RangeError for a number that makes no sense. */
export const retryPolicyOf = (options: RetryOptions | false = {}): RetryPolicy => {
  if (options === false) return { ...DEFAULTS, maxAttempts: 1 }
  const policy = { ...DEFAULTS, ...options }
  for (const [name, value] of Object.entries(policy))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`retry.${name} is ${value}, but must be a positive integer`)
  return policy
}

/**
 * The pause before a call is repeated, in milliseconds; undefined where its failure does not call for it.
 * Pauses are random, so that clients which failed together do not come back together. A server that says when
 * to come back is not asked before.
 * @param attempts - how many were made.
 */
export const pauseOf = (
  { code, details }: AshlarError,
  attempts: number,
  policy: RetryPolicy,
): number | undefined => {
  const reported = details.find((detail) => detail.kind === 'retryInfo')?.delayMs
  if (code !== 'UNAVAILABLE' && !(code === 'RESOURCE_EXHAUSTED' && reported !== undefined)) return undefined
  const most = Math.min(policy.maxPauseMs, policy.initialPauseMs * 2 ** (attempts - 1))
  return (reported ?? 0) + Math.random() * most
}
