/** How a list hands values on to the statements behind it. */
export interface HandOver {
  /**
   * A condition that is always true, and keeps the texts of some columns of the rows in `(page)` until the round trip ends.
   * @param columns - by name.
   */
  readonly keeping: (columns: readonly string[]) => string
  /** The texts of the column with this number, from 0, as an array. */
  readonly kept: (number: number) => string
}
