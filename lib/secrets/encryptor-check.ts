import { SecretUnreadable } from '../errors.js'
import type { Encryptor } from './encryptor.js'

const CHECKED = 'ashlar check'
/** The time in milliseconds for which a result is reused. Several load balancers may probe every second. */
const REUSED_MS = { success: 5_000, failure: 1_000 } as const

/**
 * Returns a readiness check that encrypts and decrypts a string, for a server's option `readinessChecks`.
 * While it fails, the service receives no calls, not even those that need no encryptor. A success is reused
 * for 5 seconds, a failure for 1 second.
 * @example
 * ```ts
 * import { type Config, newDev } from 'ashlar'
 * import { encryptorCheck } from 'ashlar/secrets'
 *
 * const encryptor = newDev('exactly 32 bytes of development!')
 * export const config: Config = { readinessChecks: [encryptorCheck(encryptor)] }
 * ```
 */
export const encryptorCheck = (
  encryptor: Encryptor,
): {
  readonly name: string
  /**
   * Encrypts and decrypts a string.
   *
   * @throws the encryptor's error.
   * @throws SecretUnreadable if it returns a different string.
   */
  check(signal: AbortSignal): Promise<void>
} => reusingCheck(encryptor, () => performance.now())

/**
 * Returns a check that reuses its last result.
 *
 * @param now - a monotonic clock in milliseconds.
 */
export const reusingCheck = (encryptor: Encryptor, now: () => number): ReturnType<typeof encryptorCheck> => {
  let last: { readonly result: Promise<void>; until: number } | undefined
  return {
    name: 'encryptor',
    check: (signal) => {
      if (last !== undefined && now() < last.until) return last.result
      const checked = { result: run(encryptor, signal), until: Number.POSITIVE_INFINITY }
      const reuse = (ms: number) => (): void => {
        // If the probe has left, the result is meaningless.
        checked.until = signal.aborted ? now() : now() + ms
      }
      checked.result.then(reuse(REUSED_MS.success), reuse(REUSED_MS.failure))
      last = checked
      return checked.result
    },
  }
}

const run = async (encryptor: Encryptor, signal: AbortSignal): Promise<void> => {
  if (encryptor.check !== undefined) return encryptor.check({ signal })
  const ciphertext = await encryptor.encrypt(CHECKED, { signal })
  if ((await encryptor.decrypt(ciphertext, { signal })) !== CHECKED)
    throw new SecretUnreadable('the encryptor does not return the original text')
}
