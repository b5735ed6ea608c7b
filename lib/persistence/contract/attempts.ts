import { renamedOption } from '../../renamed.js'

/** The old name of `maxAttempts`. */
export interface FormerAttempts {
  /** @deprecated It is now `maxAttempts`, which counts the first time, too. */
  readonly retries?: number
}

interface Attempts {
  readonly maxAttempts?: number | undefined
  readonly retries?: number | undefined
}

/**
 * How often something runs at most, the first time included; `retries` is the old name of one less.
 * @param where - whose options they are, as in `transaction()`.
 * @throws RangeError for less than one attempt.
 * @throws TypeError for both names.
 */
export function attemptsOf({ maxAttempts, retries }: Attempts, where: string): number | undefined {
  const attempts = renamedOption(
    where,
    ['retries', retries],
    ['maxAttempts', maxAttempts],
    (old) => Math.max(old, 0) + 1,
  )
  if (attempts !== undefined && !(attempts >= 1))
    throw new RangeError(`${where}: maxAttempts is ${attempts}, and is a number from 1`)
  return attempts
}
