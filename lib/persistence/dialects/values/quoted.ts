/** A name between quotation marks. */
export const quoted = (name: string, mark: '"' | '`'): string =>
  mark + (name.includes(mark) ? name.replaceAll(mark, mark + mark) : name) + mark
