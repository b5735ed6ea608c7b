/**
 * Bytes that have come and are not taken yet, in one buffer of their own. So many small pieces cost no more
 * memory than their bytes, and none keeps the whole packet that it came in.
 */
export class Gathered {
  protected buffer: Buffer = NOTHING
  protected start = 0
  protected end = 0

  /** A place where these are the first ones. */
  static of(first: Uint8Array): Gathered {
    const gathered = new Gathered()
    gathered.add(first)
    return gathered
  }

  get length(): number {
    return this.end - this.start
  }

  /** The memory that they take: at most twice their length. */
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

  /** The first of them, which are no longer here. They are never written over. */
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
