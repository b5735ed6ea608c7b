/** A text as a literal. */
export const mysqlLiteral = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`

/**
 * A default without the parentheses and the spelling that differ between a statement and the catalogs; NULL
 * is none.
 */
export function mysqlDefault(text: string): string | undefined {
  const stripped = text.replace(/^\((.*)\)$/s, '$1')
  // MySQL 8 shows an expression with its quotes and backslashes escaped once more.
  const bare = /^_\w+\\'/.test(stripped) ? stripped.replace(/\\(.)/gs, '$1') : stripped
  if (/^NULL$/i.test(bare)) return undefined
  const inside = /^(?:_utf8mb4)?'(.*)'$/s.exec(bare)?.[1]
  if (inside !== undefined)
    return mysqlLiteral(inside.replace(/''|\\(.)/gs, (_, escaped?: string) => escaped ?? "'"))
  return /^-?\d+\.\d+$/.test(bare)
    ? String(Number(bare))
    : bare.replace(/^current_timestamp/i, 'CURRENT_TIMESTAMP')
}
