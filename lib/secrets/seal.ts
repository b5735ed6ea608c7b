import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
export const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Returns nonce ‖ ciphertext ‖ tag. A nonce must never be used twice with the same key. */
export function seal(key: KeyObject, nonce: Uint8Array, plaintext: string, associatedData?: string): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  if (associatedData !== undefined) cipher.setAAD(Buffer.from(associatedData))
  const body = cipher.update(plaintext, 'utf8')
  cipher.final()
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

/**
 * Returns the plaintext's bytes, or undefined if the frame is too short or was not sealed with this key and
 * data.
 */
export function open(key: KeyObject, frame: Uint8Array, associatedData?: string): Buffer | undefined {
  if (frame.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, frame.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(frame.subarray(frame.length - TAG_BYTES))
  if (associatedData !== undefined) decipher.setAAD(Buffer.from(associatedData))
  const body = decipher.update(frame.subarray(NONCE_BYTES, frame.length - TAG_BYTES))
  try {
    decipher.final()
    return body
  } catch {
    return undefined
  }
}
