/** `LineItem` or `lineItem` → `line_item`. */
export const snakeOf = (name: string): string => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()

/** `line_item` → `LineItem`. */
export const pascalOf = (snake: string): string =>
  snake
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** `line_item` → `lineItem`. */
export const camelOf = (snake: string): string => {
  const pascal = pascalOf(snake)
  return pascal.charAt(0).toLowerCase() + pascal.slice(1)
}

/** `line_item` → `line_items`, `category` → `categories`, `shelf` → `shelves`. */
export const pluralOf = (snake: string): string => {
  if (/[^aeiou]y$/.test(snake)) return `${snake.slice(0, -1)}ies`
  if (/(l|ea|oa|ar)f$/.test(snake)) return `${snake.slice(0, -1)}ves`
  return /(s|x|z|ch|sh)$/.test(snake) ? `${snake}es` : `${snake}s`
}
