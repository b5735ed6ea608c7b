import type { AshlarError } from '../../errors.js'

/** The conditions for repeating a call. */
export interface RetryOptions {
  /** Maximum number of attempts of a call, including the first. Default: 4. */
  readonly maxAttempts?: number
  /**
   * Maximum pause before the second attempt in milliseconds, doubled for each further attempt. Default: 100.
   */
  readonly initialPauseMs?: number
  /** Maximum pause in milliseconds. Default: 5,000. */
  readonly maxPauseMs?: number
}

export type RetryPolicy = Required<RetryOptions>

const DEFAULTS: RetryPolicy = { maxAttempts: 4, initialPauseMs: 100, maxPauseMs: 5_000 }

/**
 * Fills in the defaults of retry options.
 * @throws RangeError for an invalid number.
 */
export const retryPolicyOf = (options: RetryOptions | false = {}): RetryPolicy => {
  if (options === false) return { ...DEFAULTS, maxAttempts: 1 }
  const policy = { ...DEFAULTS, ...options }
  for (const [name, value] of Object.entries(policy))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`retry.${name} is ${value}, but must be a positive integer`)
  return policy
}

/**
 * Returns the pause before a call is repeated in milliseconds; undefined if the error does not permit a
 * retry. Pauses are random, so that clients that failed together do not return together. A retry delay that
 * the server states is respected.
 * @param attempts - the number of attempts so far.
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
