import { ResourceExhausted } from '../../errors.js'

/** The rows of a statement have more bytes than its reader accepts. */
export class TooManyBytes extends ResourceExhausted {
  /** @param rows - how many rows had arrived within the limit. */
  constructor(
    maxBytes: number,
    readonly rows: number,
  ) {
    super(`the rows have more than ${maxBytes} bytes`)
  }
}
