/** Writes a string into a statement, as a placeholder or as a literal. */
export type WriteText = (text: string) => string

/** Reads the tags of a JSON column. `column` is SQL. */
export interface TagSql {
  /** Returns a tag's value as a string, or NULL if the tag is missing. */
  readonly value: (column: string, key: string, write: WriteText) => string
  /**
   * Returns a condition that is true if the tags contain the key, and never NULL.
   *
   * @param nullable - true if the column may be NULL.
   */
  readonly has: (column: string, key: string, write: WriteText, nullable: boolean) => string
  /** Returns a tag's value for `=` and `<`, which compare by code point, including trailing spaces. */
  readonly compared: (value: string) => string
  /** Returns a tag's value for substring searches. */
  readonly searched: (value: string) => string
}
