import { checkResponseBytes, responseTooLarge } from '../../bounds/response-bytes.js'

/** The maximum size of the buffer that is reused. A larger one is released. */
const KEPT_BYTES = 64 * 1024
const FIRST_BYTES = 4096
/** From this length on, Node's encoder is faster than a loop. */
const LOOPED_CHARACTERS = 96
const WORD = 2 ** 32

/** Writes protobuf's wire format into one growing buffer. Throws for a value of the wrong type or range. */
export class ByteWriter {
  /** The unused writer. While a value is written, it may itself write a message. */
  static #spare: ByteWriter | undefined
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0
  #maxBytes = Infinity

  /**
   * Returns a copy of the bytes that `write` writes for the value. A writer that has failed is not reused.
   * @throws ResourceExhausted for more than `maxBytes`, before the buffer is twice as large. A value that
   *   contains one object a thousand times is larger than its parts.
   */
  static bytesOf<T>(write: (value: T, out: ByteWriter) => void, value: T, maxBytes = Infinity): Buffer {
    const out = ByteWriter.#spare ?? new ByteWriter()
    ByteWriter.#spare = undefined
    out.#maxBytes = maxBytes
    write(value, out)
    if (out.#at > maxBytes) throw responseTooLarge(maxBytes)
    const result = Buffer.allocUnsafe(out.#at)
    result.set(out.#bytes.subarray(0, out.#at))
    out.#at = 0
    if (out.#bytes.length <= KEPT_BYTES) ByteWriter.#spare = out
    return result
  }

  /** Writes a tag, a length or another unsigned integer of at most 53 bits. */
  varint(value: number): void {
    if (this.#at + 10 > this.#bytes.length) this.#grow(10)
    const bytes = this.#bytes
    let rest = value
    for (; rest >= WORD / 2; rest = Math.floor(rest / 128)) bytes[this.#at++] = (rest % 128) + 128
    for (; rest > 127; rest >>>= 7) bytes[this.#at++] = (rest & 127) | 128
    bytes[this.#at++] = rest
  }

  /** @param value - from 0 to 2^64 - 1. */
  varint64(value: bigint): void {
    if (value <= Number.MAX_SAFE_INTEGER) return this.varint(Number(value))
    if (this.#at + 10 > this.#bytes.length) this.#grow(10)
    let rest = value
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 127n) | 128
    this.#bytes[this.#at++] = Number(rest)
  }

  /** @param value - its low 32 bits are written. */
  fixed32(value: number): void {
    if (this.#at + 4 > this.#bytes.length) this.#grow(4)
    this.#at = this.#bytes.writeUInt32LE(value >>> 0, this.#at)
  }

  /** @param value - from 0 to 2^64 - 1. */
  fixed64(value: bigint): void {
    if (this.#at + 8 > this.#bytes.length) this.#grow(8)
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at)
  }

  float(value: number): void {
    if (this.#at + 4 > this.#bytes.length) this.#grow(4)
    this.#at = this.#bytes.writeFloatLE(value, this.#at)
  }

  double(value: number): void {
    if (this.#at + 8 > this.#bytes.length) this.#grow(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  /** Writes a string with its length in UTF-8. A lone surrogate becomes U+FFFD. */
  string(value: string): void {
    const { length } = value
    if (this.#at + length * 3 + 5 > this.#bytes.length) this.#grow(length * 3 + 5)
    if (length <= LOOPED_CHARACTERS) {
      const bytes = this.#bytes
      const first = this.#at + 1
      let index = 0
      for (; index < length; index++) {
        const code = value.charCodeAt(index)
        if (code > 127) break
        bytes[first + index] = code
      }
      if (index === length) {
        bytes[this.#at] = length
        this.#at = first + length
        return
      }
    }
    const start = ++this.#at
    this.#at += this.#bytes.write(value, this.#at, 'utf8')
    this.end(start)
  }

  /** Writes bytes with their length. */
  bytes(value: Uint8Array): void {
    this.varint(value.byteLength)
    this.raw(value)
  }

  /** Writes bytes without a length. */
  raw(value: Uint8Array): void {
    if (this.#at + value.byteLength > this.#bytes.length) this.#grow(value.byteLength)
    this.#bytes.set(value, this.#at)
    this.#at += value.byteLength
  }

  /**
   * Begins a length-delimited part.
   * @returns the argument for `end`.
   */
  begin(tag: number): number {
    this.varint(tag)
    if (this.#at + 5 > this.#bytes.length) this.#grow(5)
    return ++this.#at
  }

  /** Ends the part that began at `start` and inserts its length. */
  end(start: number): void {
    const length = this.#at - start
    if (length < 128) {
      this.#bytes[start - 1] = length
      return
    }
    const more = length < 2 ** 14 ? 1 : length < 2 ** 21 ? 2 : length < 2 ** 28 ? 3 : 4
    if (this.#at + more > this.#bytes.length) this.#grow(more)
    this.#bytes.copyWithin(start + more, start, this.#at)
    this.#at = start - 1
    this.varint(length)
    this.#at += length
  }

  #grow(by: number): void {
    checkResponseBytes(this.#at, this.#maxBytes)
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + by))
    larger.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = larger
  }
}
