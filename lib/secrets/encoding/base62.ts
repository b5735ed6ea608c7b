const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BITS_PER_CHARACTER = Math.log2(ALPHABET.length)
/** Larger bytes are discarded, because `% 62` of all 256 values would favor the first eight characters. */
const REJECTED_FROM = 256 - (256 % ALPHABET.length)

/** Returns a uniformly random base62 string of `length` characters. */
export function randomBase62(length: number, randomBytes: (size: number) => Uint8Array): string {
  let text = ''
  while (text.length < length) {
    // Draw a quarter more bytes than needed, so that one draw is nearly always sufficient.
    for (const byte of randomBytes(length + (length >> 2))) {
      if (byte < REJECTED_FROM && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length)
    }
  }
  return text
}

/** Returns the number of characters that contain at least `bits` bits. */
export const base62Length = (bits: number): number => Math.ceil(bits / BITS_PER_CHARACTER)
