const LAST_BEFORE_ONE = 'AEIMQUYcgkosw048'
const LAST_BEFORE_TWO = 'AQgw'

/**
 * The bytes of standard, padded base64 text; undefined for anything else. `Buffer.from` drops what it does not know, reads
 * the URL alphabet and ignores spare bits, so that many texts would stand for one value.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const length = text.length
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = Buffer.from(text, 'base64')
  // A character that was dropped leaves fewer bytes than the length promises.
  if (length % 4 !== 0 || bytes.length !== (length / 4) * 3 - padding) return undefined
  if (text.includes('-') || text.includes('_')) return undefined
  if (padding === 1 && !LAST_BEFORE_ONE.includes(text.charAt(length - 2))) return undefined
  if (padding === 2 && !LAST_BEFORE_TWO.includes(text.charAt(length - 3))) return undefined
  return bytes
}
