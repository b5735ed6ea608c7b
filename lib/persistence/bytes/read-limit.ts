import type { CallEnd } from '../../call-end.js'
import { TooManyBytes } from './too-many-bytes.js'

/** Ends a read when its call ends, or when its rows have more bytes than its reader accepts. */
export class ReadLimit implements CallEnd {
  readonly #maxBytes: number
  readonly #call: CallEnd | undefined
  readonly #listeners = new Set<() => void>()
  #bytes = 0
  #rows = 0

  /** @param call - the end of the call that reads. */
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

  /** Counts a row that has arrived. Returns false if it is not accepted: the first row always is. */
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
