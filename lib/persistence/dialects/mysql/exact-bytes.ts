/** All others, `_bin` among them, at least ignore spaces at the end. */
export const isExactCollation = (collation: string): boolean => /(?:_nopad_bin|_0900_bin)$/i.test(collation)

/**
 * The bytes of a text in UTF-8, whose order is that of code points. No collation compares so on both servers.
 */
export const exactBytes = (column: string, collation: string): string =>
  isExactCollation(collation) ? column : `CAST(${column} AS BINARY)`
