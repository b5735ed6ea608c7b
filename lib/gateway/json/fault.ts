import { InvalidArgument } from '../../errors.js'

/**
 * A JSON value that does not fit its field. While the error is thrown, each level adds its step to the path.
 */
export class JsonFault extends Error {
  #path = ''

  /** Prepends a field, `[index]` or `["key"]` to the path. */
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
 * Returns the error to throw if JSON could not be read: an InvalidArgument for a fault, with `path`
 * prepended.
 */
export function invalidAt(path: string, error: unknown): unknown {
  if (!(error instanceof JsonFault)) return error
  return (path === '' ? error : error.within(path)).toInvalidArgument()
}
