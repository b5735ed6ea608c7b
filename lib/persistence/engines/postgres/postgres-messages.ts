import type { toPostgres } from './postgres-value.js'

type Value = ReturnType<typeof toPostgres>

const [BIND, CLOSE, EXECUTE, PARSE, SYNC] = [0x42, 0x43, 0x45, 0x50, 0x53]
const STATEMENT = 0x53
const [TEXT, BYTES] = [0, 1]
const NULL = -1

/** The initial size, sufficient for most statements. */
const SIZE = 512

/**
 * Builds several messages to a PostgreSQL server for a single write. One write per message would take most of
 * the time.
 */
export class PostgresMessages {
  #bytes = Buffer.allocUnsafe(SIZE)
  #at = 0

  /** Closes a prepared statement, if it exists. */
  close(name: string): void {
    const start = this.#begin(CLOSE)
    this.#room(1)
    this.#bytes[this.#at++] = STATEMENT
    this.#cstring(name)
    this.#end(start)
  }

  parse(name: string, text: string): void {
    const start = this.#begin(PARSE)
    this.#cstring(name)
    this.#cstring(text)
    this.#int16(0)
    this.#end(start)
  }

  /** Binds values and requests results as strings. */
  bind(name: string, values: readonly Value[]): void {
    const start = this.#begin(BIND)
    this.#cstring('')
    this.#cstring(name)
    this.#int16(values.length)
    for (const value of values) this.#int16(Buffer.isBuffer(value) ? BYTES : TEXT)
    this.#int16(values.length)
    for (const value of values) this.#value(value)
    this.#int16(0)
    this.#end(start)
  }

  /** Requests all rows. */
  execute(): void {
    const start = this.#begin(EXECUTE)
    this.#cstring('')
    this.#int32(0)
    this.#end(start)
  }

  sync(): void {
    this.#end(this.#begin(SYNC))
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  #begin(code: number): number {
    this.#room(5)
    this.#bytes[this.#at] = code
    const start = this.#at + 1
    this.#at += 5
    return start
  }

  /**
   * Writes the length of the message that begins at `start`.
   *
   * @throws RangeError if the message is too large.
   */
  #end(start: number): void {
    this.#bytes.writeInt32BE(this.#at - start, start)
  }

  #value(value: Value): void {
    if (value === null) return this.#int32(NULL)
    const size = typeof value === 'string' ? Buffer.byteLength(value) : value.length
    this.#int32(size)
    this.#room(size)
    if (typeof value === 'string') this.#bytes.write(value, this.#at, size)
    else value.copy(this.#bytes, this.#at)
    this.#at += size
  }

  #cstring(text: string): void {
    const size = Buffer.byteLength(text)
    this.#room(size + 1)
    this.#bytes.write(text, this.#at, size)
    this.#at += size
    this.#bytes[this.#at++] = 0
  }

  #int16(value: number): void {
    this.#room(2)
    this.#at = this.#bytes.writeUInt16BE(value, this.#at)
  }

  #int32(value: number): void {
    this.#room(4)
    this.#at = this.#bytes.writeInt32BE(value, this.#at)
  }

  #room(size: number): void {
    const needed = this.#at + size
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
