import type { Field } from '../../../resource/fields/field.js'

/** Passes values of a page to later statements of the same round trip. */
export interface HandOver {
  /**
   * Returns a condition that is always true and stores the strings of columns of `(page)`, even without rows,
   * until the round trip ends.
   *
   * @param columns - the columns' names.
   */
  readonly keeping: (columns: readonly string[]) => string
  /** Returns the stored values of the column with this number, starting at 0, as an array. */
  readonly kept: (number: number, type: string) => string
  /**
   * Returns a statement without result rows that combines rows and stores the string under a number, starting
   * at 0, for the last statement of the round trip. Otherwise the server would send results every few KiB,
   * and each time wake this process.
   */
  readonly keepingText: (number: number, gathering: string) => string
  /**
   * Returns a statement that combines rows and also selects the stored strings. A string that was not stored
   * is NULL or empty.
   */
  readonly withTexts: (count: number, gathering: string) => string
}

/** The values of a page that later statements of the same round trip use. */
export interface KeptOfPage {
  readonly columns: readonly Field[]
  /** True if the combined rows of the page are returned by the last statement. */
  readonly text: boolean
}
