import { InvalidArgument } from '../../errors.js'

/**
 * A value of a JSON document that does not fit its field. While the error is thrown, each level adds its step
 * to the path.
 */
export class JsonFault extends Error {
  #path = ''

  /** Puts a field, `[index]` or `["key"]` in front of the path. */
  within(step: string): this {
    this.#path = this.#path === '' || this.#path.startsWith('[') ? step + this.#path : `${step}.${this.#path}`
    return this
  }

  toInvalidArgument(): InvalidArgument {
    return new InvalidArgument(
      this.#path,
      this.#path === '' ? `invalid JSON body: ${this.message}` : this.message,
    )
  }
}

/**
 * The error to throw when reading JSON failed: an InvalidArgument for a fault, at `path` where that is not
 * empty.
 */
export function invalidAt(path: string, error: unknown): unknown {
  if (!(error instanceof JsonFault)) return error
  return (path === '' ? error : error.within(path)).toInvalidArgument()
}
