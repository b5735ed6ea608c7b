/**
 * Received bytes that have not been consumed, in one separate buffer. Many small pieces take no more memory
 * than their bytes, and no piece retains the packet in which it arrived.
 */
export class Gathered {
  protected buffer: Buffer = NOTHING
  protected start = 0
  protected end = 0

  /** Returns a buffer that starts with these bytes. */
  static of(first: Uint8Array): Gathered {
    const gathered = new Gathered()
    gathered.add(first)
    return gathered
  }

  get length(): number {
    return this.end - this.start
  }

  /** The size of the buffer, at most twice the number of bytes in it. */
  get capacity(): number {
    return this.buffer.length
  }

  add(piece: Uint8Array): void {
    const length = this.end - this.start
    if (this.end + piece.length > this.buffer.length) {
      const old = this.buffer
      this.buffer = Buffer.allocUnsafe(Math.max(length + piece.length, 2 * length))
      if (length > 0) this.buffer.set(old.subarray(this.start, this.end), 0)
      this.start = 0
      this.end = length
    }
    this.buffer.set(piece, this.end)
    this.end += piece.length
  }

  /** Removes and returns the first bytes. They are never overwritten. */
  take(count: number): Buffer {
    const taken = this.buffer.subarray(this.start, this.start + count)
    this.start += count
    if (this.start === this.end) this.drop()
    return taken
  }

  drop(): void {
    this.buffer = NOTHING
    this.start = this.end = 0
  }
}

const NOTHING = Buffer.alloc(0)
