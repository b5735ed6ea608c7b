/** Words whose plural in `-ves` is derived from `-f`. */
const FROM_F = new Set([
  'shelves',
  'halves',
  'leaves',
  'loaves',
  'wolves',
  'calves',
  'thieves',
  'scarves',
  'hooves',
])

/**
 * Returns the singular of a word in a path: `shelves` becomes `shelf`, and `entries` becomes `entry`. Other
 * words are returned unchanged.
 */
export function singular(word: string): string {
  if (FROM_F.has(word.toLowerCase())) return `${word.slice(0, -3)}f`
  if (/[^aeiou]ies$/i.test(word)) return `${word.slice(0, -3)}y`
  if (/(?:ss|[^o]us|x|z|ch|sh)es$/i.test(word)) return word.slice(0, -2)
  return /[^su]s$/i.test(word) ? word.slice(0, -1) : word
}
