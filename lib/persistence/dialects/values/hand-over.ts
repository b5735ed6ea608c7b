import type { Field } from '../../../resource/fields/field.js'

/** Passes values of a list to the statements after it. */
export interface HandOver {
  /**
   * A condition that is always true, also of no row, and keeps the texts of some columns of the rows in
   * `(page)` until the round trip ends.
   * @param columns - by name.
   */
  readonly keeping: (columns: readonly string[]) => string
  /** The values of the column with this number, from 0, as an array of a type. */
  readonly kept: (number: number, type: string) => string
  /**
   * A statement that gathers, without a row of its own: its text is kept under a number, from 0, for the last
   * statement of the round trip. The server sends what it has whenever that is a few KiB, and this process
   * wakes up each time.
   */
  readonly keepingText: (number: number, gathering: string) => string
  /** A statement that gathers, with the kept texts behind its own; one that was not kept is NULL or empty. */
  readonly withTexts: (count: number, gathering: string) => string
}

/** The values that a page keeps for later statements of the same round trip. */
export interface KeptOfPage {
  readonly columns: readonly Field[]
  /** True if the last of them returns its rows, where they are gathered. */
  readonly text: boolean
}
