import { ResourceExhausted } from '../../errors.js'

/** The rows of a statement exceed the byte limit of their reader. */
export class TooManyBytes extends ResourceExhausted {
  /**
   * @param rows - the number of rows that arrived within the limit.
   */
  constructor(
    maxBytes: number,
    readonly rows: number,
  ) {
    super(`the rows have more than ${maxBytes} bytes`)
  }
}
