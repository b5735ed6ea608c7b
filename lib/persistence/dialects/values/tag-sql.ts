/** Writes a string into a statement: as a placeholder, or as a literal of a declaration. */
export type WriteText = (text: string) => string

/** SQL about the tags of a JSON column; `column` is SQL. */
export interface TagSql {
  /** The value of one tag, as text; NULL where there is none. */
  readonly value: (column: string, key: string, write: WriteText) => string
  /** True if the tags have the key; never NULL. @param nullable - whether the column may be. */
  readonly has: (column: string, key: string, write: WriteText, nullable: boolean) => string
  /** A tag's value as `=` and `<` compare it: by code point, trailing spaces counting. */
  readonly compared: (value: string) => string
  /** A tag's value as the search for a substring takes it. */
  readonly searched: (value: string) => string
}
