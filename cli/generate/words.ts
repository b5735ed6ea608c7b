/** Converts `LineItem` or `lineItem` to `line_item`. */
export const snakeOf = (name: string): string => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()

/** Converts `line_item` to `LineItem`. */
export const pascalOf = (snake: string): string =>
  snake
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Converts `line_item` to `lineItem`. */
export const camelOf = (snake: string): string => {
  const pascal = pascalOf(snake)
  return pascal.charAt(0).toLowerCase() + pascal.slice(1)
}

/**
 * Returns the plural: `line_item` becomes `line_items`, `category` becomes `categories`, `shelf` becomes
 * `shelves`.
 */
export const pluralOf = (snake: string): string => {
  if (/[^aeiou]y$/.test(snake)) return `${snake.slice(0, -1)}ies`
  if (/(l|ea|oa|ar)f$/.test(snake)) return `${snake.slice(0, -1)}ves`
  return /(s|x|z|ch|sh)$/.test(snake) ? `${snake}es` : `${snake}s`
}

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ...(['movie', 'cookie', 'tie', 'pie', 'cache', 'house', 'case'].map((one) => [`${one}s`, one]) as [
    string,
    string,
  ][]),
  ...[
    ['people', 'person'] as const,
    ['children', 'child'] as const,
    ['men', 'man'] as const,
    ['women', 'woman'] as const,
  ],
  ...(['news', 'series', 'data', 'media', 'staff', 'gas'].map((one) => [one, one]) as [string, string][]),
])

/**
 * Returns the singular: `line_items` becomes `line_item`, `categories` becomes `category`, `status` is
 * unchanged.
 */
export function singularOf(snake: string): string {
  const at = snake.lastIndexOf('_') + 1
  const last = snake.slice(at)
  return snake.slice(0, at) + (IRREGULAR.get(last) ?? singularWord(last))
}

function singularWord(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(l|ea|oa|ar)ves$/.test(word)) return `${word.slice(0, -3)}f`
  if (/(ss|sh|ch|x|zz|[^aeo]us)es$/.test(word)) return word.slice(0, -2)
  return /[^siu]s$/.test(word) ? word.slice(0, -1) : word
}
