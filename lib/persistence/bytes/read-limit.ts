import type { CallEnd } from '../../call-end.js'
import { TooManyBytes } from './too-many-bytes.js'

/** Ends a read when its call ends, or when its rows exceed the reader's byte limit. */
export class ReadLimit implements CallEnd {
  readonly #maxBytes: number
  readonly #call: CallEnd | undefined
  readonly #listeners = new Set<() => void>()
  #bytes = 0
  #rows = 0

  constructor(maxBytes: number, call: CallEnd | undefined) {
    this.#maxBytes = maxBytes
    this.#call = call
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes && this.#rows > 1
  }

  get aborted(): boolean {
    return this.isExceeded || this.#call?.aborted === true
  }

  get reason(): unknown {
    return this.isExceeded ? new TooManyBytes(this.#maxBytes, this.#rows - 1) : this.#call?.reason
  }

  /**
   * Counts a row that has arrived. Returns false if the row exceeds the limit. The first row is always
   * accepted.
   */
  accepts(bytes: number): boolean {
    if (this.isExceeded) return false
    this.#bytes += bytes
    this.#rows++
    if (this.#bytes <= this.#maxBytes || this.#rows === 1) return true
    for (const listener of this.#listeners) listener()
    return false
  }

  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void {
    this.#listeners.add(listener)
    this.#call?.addEventListener(type, listener, options)
  }

  removeEventListener(type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
    this.#call?.removeEventListener(type, listener)
  }
}
