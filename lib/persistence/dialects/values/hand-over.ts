/** How a list hands values on to the statements behind it. */
export interface HandOver {
  /** The rows of a list in their order, which keeps the texts of some of its columns until the round trip ends. @param columns - by name. */
  readonly keeping: (list: string, columns: readonly string[]) => string
  /** The texts of the column with this number, from 0, as an array. */
  readonly kept: (number: number) => string
}
