/** Escapes text for CommonMark, so that nothing in it begins an HTML tag. */
export const markdown = (text: string): string => text.replaceAll(/<(?=[a-z/!?])/gi, '&lt;')

/** Joins sentences to a description; empty if there are none, so that the keyword is omitted. */
export function described(...texts: readonly (string | undefined)[]): { readonly description?: string } {
  const known = texts.filter((text) => text !== undefined && text !== '')
  return known.length === 0 ? {} : { description: known.join(' ') }
}

/** Converts `BatchGetWidgets` to `Batch get widgets`. */
export function words(name: string): string {
  const spaced = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** Formats names as code, separated by commas. */
export const listed = (names: Iterable<string>): string => [...names].map((name) => `\`${name}\``).join(', ')
