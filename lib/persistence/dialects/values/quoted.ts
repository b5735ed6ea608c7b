/** Quotes a name. */
export const quoted = (name: string, mark: '"' | '`'): string =>
  mark + (name.includes(mark) ? name.replaceAll(mark, mark + mark) : name) + mark

/** Returns a string literal for engines in which a backslash is an ordinary character. */
export const textLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`
