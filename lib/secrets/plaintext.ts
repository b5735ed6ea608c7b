import { InvalidArgument } from '../errors.js'

/**
 * Refuses text with lone surrogates: UTF-8 cannot encode them, so they would read back as other characters.
 * @throws InvalidArgument
 */
export function checkPlaintext(plaintext: string): void {
  if (typeof plaintext !== 'string' || !plaintext.isWellFormed()) {
    throw new InvalidArgument('', 'the secret is not well-formed Unicode text')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of UTF-8 bytes; undefined for bytes that are not UTF-8. */
export function toPlaintext(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
