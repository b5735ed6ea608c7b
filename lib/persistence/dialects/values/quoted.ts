/** A name between quotation marks. */
export const quoted = (name: string, mark: '"' | '`'): string =>
  mark + (name.includes(mark) ? name.replaceAll(mark, mark + mark) : name) + mark

/** A text as a literal, where a backslash is one. */
export const textLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`
