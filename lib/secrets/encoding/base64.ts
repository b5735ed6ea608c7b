const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const DIGITS = new Int8Array(128).fill(-1)
for (const [value, character] of [...ALPHABET].entries()) DIGITS[character.charCodeAt(0)] = value

/**
 * Decodes standard base64 with padding. Returns undefined for other strings. `Buffer.from` accepts the URL
 * alphabet and ignores unknown characters and spare bits, so that many strings would decode to one value.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const length = text.length
  if (length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = Buffer.allocUnsafe((length / 4) * 3 - padding)
  const whole = padding === 0 ? length : length - 4
  let to = 0
  for (let at = 0; at < whole; at += 4) {
    // One character that is not a digit makes the whole number negative.
    const bits =
      (digit(text, at) << 18) | (digit(text, at + 1) << 12) | (digit(text, at + 2) << 6) | digit(text, at + 3)
    if (bits < 0) return undefined
    bytes[to++] = bits >> 16
    bytes[to++] = bits >> 8
    bytes[to++] = bits
  }
  if (padding === 0) return bytes
  const third = padding === 1 ? digit(text, whole + 2) : 0
  const bits = (digit(text, whole) << 12) | (digit(text, whole + 1) << 6) | third
  const spare = padding === 1 ? 0b11 : 0b1111_111111
  if (bits < 0 || (bits & spare) !== 0) return undefined
  bytes[to++] = bits >> 10
  if (padding === 1) bytes[to] = bits >> 2
  return bytes
}

const digit = (text: string, at: number): number => DIGITS[text.charCodeAt(at)] ?? -1
