import { AshlarError, type Code } from '../../errors.js'

/** An error whose HTTP status is not the one of its code, such as 405 or 413. */
export class HttpError extends AshlarError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: Code, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(code, message)
    this.status = status
    this.headers = headers
  }
}
