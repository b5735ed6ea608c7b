/**
 * True if a collation compares strings exactly. All others, including `_bin`, at least ignore trailing
 * spaces.
 */
export const isExactCollation = (collation: string): boolean => /(?:_nopad_bin|_0900_bin)$/i.test(collation)

/** Returns the UTF-8 bytes of a string, which sort by code point. No collation does this on both servers. */
export const exactBytes = (column: string, collation: string): string =>
  isExactCollation(collation) ? column : `CAST(${column} AS BINARY)`
