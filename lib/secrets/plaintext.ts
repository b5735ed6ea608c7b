import { InvalidArgument } from '../errors.js'

/**
 * Rejects strings with lone surrogates. UTF-8 cannot encode them, so they would be read back as other
 * characters.
 *
 * @throws InvalidArgument
 */
export function checkPlaintext(plaintext: string): void {
  if (typeof plaintext !== 'string' || !plaintext.isWellFormed()) {
    throw new InvalidArgument('', 'the secret is not well-formed Unicode text')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8 bytes. Returns undefined if they are invalid. */
export function toPlaintext(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
