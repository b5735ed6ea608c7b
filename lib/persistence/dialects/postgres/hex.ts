const eight = new DataView(new ArrayBuffer(8))

/**
 * Returns the double of a hexadecimal string. Columns of single precision were widened, which is exact.
 * Creating a Buffer for each value would take four times as long.
 */
export function doubleOfHex(text: unknown): number {
  eight.setInt32(0, bitsOf(text as string, 0))
  eight.setInt32(4, bitsOf(text as string, 8))
  return eight.getFloat64(0)
}

/** Returns the integer of eight hexadecimal digits. */
function bitsOf(text: string, from: number): number {
  let bits = 0
  for (let at = from; at < from + 8; at++) {
    const code = text.charCodeAt(at)
    bits = (bits << 4) | (code < 58 ? code - 48 : code - 87)
  }
  return bits
}

export const bytesOfHex = (text: unknown): Uint8Array => new Uint8Array(Buffer.from(text as string, 'hex'))
