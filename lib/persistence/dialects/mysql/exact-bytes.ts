/** All others, `_bin` among them, at least ignore spaces at the end. */
export const isExactCollation = (collation: string): boolean => /(?:_nopad_bin|_0900_bin)$/i.test(collation)

/** The UTF-8 bytes of a string, which sort by code point. No collation does so on both servers. */
export const exactBytes = (column: string, collation: string): string =>
  isExactCollation(collation) ? column : `CAST(${column} AS BINARY)`
