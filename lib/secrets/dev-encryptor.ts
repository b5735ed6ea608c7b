import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { SecretUnreadable } from '../errors.js'
import { abortError } from '../bounds/abort-error.js'
import { decodeBase64 } from './encoding/base64.js'
import type { Encryptor, EncryptorOptions } from './encryptor.js'
import { NONCE_BYTES, open, seal } from './seal.js'
import { checkPlaintext, toPlaintext } from './plaintext.js'

const KEY_BYTES = 32

/**
 * Returns an encryptor that holds its key in this process: AES-256-GCM and HMAC-SHA256, for development and
 * tests. A server that does not allow development parts rejects it.
 * @param key - exactly 32 bytes; a string counts in UTF-8 bytes.
 * @throws RangeError at once for any other length: a key is neither truncated nor padded.
 * @example
 * ```ts
 * import { newDev } from 'ashlar'
 *
 * const encryptor = newDev('exactly 32 bytes of development!')
 * console.log(await encryptor.decrypt(await encryptor.encrypt('hunter2')))
 * ```
 */
export function newDev(key: Uint8Array | string): DevEncryptor {
  const bytes = Buffer.from(key)
  if (bytes.length !== KEY_BYTES) {
    throw new RangeError(`newDev: the key must be exactly ${KEY_BYTES} bytes, not ${bytes.length}`)
  }
  // Store a copy that is not shown when the object is printed.
  const secretKey = createSecretKey(bytes)

  const encrypt = async (plaintext: string, options: EncryptorOptions = {}): Promise<string> => {
    if (options.signal?.aborted) throw abortError(options.signal)
    checkPlaintext(plaintext)
    return seal(secretKey, randomBytes(NONCE_BYTES), plaintext, options.associatedData).toString('base64')
  }

  const decrypt = async (ciphertext: string, options: EncryptorOptions = {}): Promise<string> => {
    if (options.signal?.aborted) throw abortError(options.signal)
    const frame = typeof ciphertext === 'string' ? decodeBase64(ciphertext) : undefined
    const bytes = frame === undefined ? undefined : open(secretKey, frame, options.associatedData)
    const plaintext = bytes === undefined ? undefined : toPlaintext(bytes)
    // The message is the same for every cause, because naming the failed check would help an attacker.
    if (plaintext === undefined) throw new SecretUnreadable('the ciphertext cannot be decrypted')
    return plaintext
  }

  const hash = async (plaintext: string, options: EncryptorOptions = {}): Promise<string> => {
    if (options.signal?.aborted) throw abortError(options.signal)
    checkPlaintext(plaintext)
    return createHmac('sha256', secretKey).update(plaintext).digest('base64')
  }

  return {
    development: true,
    encrypt,
    decrypt,
    hash,
    encryptBatch: (plaintexts, options) => Promise.all(plaintexts.map((text) => encrypt(text, options))),
    check: async () => void (await decrypt(await encrypt('ashlar check'))),
    decryptBatch: (ciphertexts, options) => Promise.all(ciphertexts.map((text) => decrypt(text, options))),
  }
}

/** An encryptor for development, whose key is in the process. */
export interface DevEncryptor extends Required<Omit<Encryptor, 'rewrapBatch'>> {
  readonly development: true
}
