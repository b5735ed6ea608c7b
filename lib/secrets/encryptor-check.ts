import { SecretUnreadable } from '../errors.js'
import type { Encryptor } from './encryptor.js'

const CHECKED = 'ashlar check'

/**
 * A readiness check that encrypts and decrypts a text, for the option `readinessChecks` of a server. While it
 * fails, the service takes no call, also those that need no encryptor.
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
  /** @throws the error of the encryptor; SecretUnreadable where it returns another text. */
  check(signal: AbortSignal): Promise<void>
} => ({
  name: 'encryptor',
  check: async (signal) => {
    if (encryptor.check !== undefined) return encryptor.check({ signal })
    const ciphertext = await encryptor.encrypt(CHECKED, { signal })
    if ((await encryptor.decrypt(ciphertext, { signal })) !== CHECKED)
      throw new SecretUnreadable('the encryptor returns another text than it was given')
  },
})
