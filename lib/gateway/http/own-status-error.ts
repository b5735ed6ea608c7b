import { AshlarError, type Code } from '../../errors.js'

/** An error with its own HTTP status, such as 405 or 413, instead of the status of its code. */
export class OwnStatusError extends AshlarError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: Code, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(code, message)
    this.status = status
    this.headers = headers
  }
}
