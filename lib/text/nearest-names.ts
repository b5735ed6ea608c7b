import { editDistance } from './edit-distance.js'

/**
 * Returns at most three of `names` that a misspelt `name` may stand for, nearest first. Case, `-` and `_` are
 * ignored.
 */
export const nearestNames = (name: string, names: Iterable<string>): readonly string[] => {
  const wanted = lettersOf(name)
  const tolerance = wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))
  const near: (readonly [candidate: string, distance: number])[] = []
  for (const candidate of names) {
    const distance = editDistance(wanted, lettersOf(candidate))
    if (distance <= tolerance) near.push([candidate, distance])
  }
  near.sort(([a, distanceA], [b, distanceB]) => distanceA - distanceB || (a < b ? -1 : 1))
  return near.slice(0, 3).map(([candidate]) => candidate)
}

/**
 * Returns the end of a message: `; did you mean a or b?`, or the valid names if none is near.
 * @param path - a prefix that is written before each name with a dot.
 */
export const didYouMean = (name: string, names: Iterable<string>, path: readonly string[] = []): string => {
  const whole = (one: string) => [...path, one].join('.')
  const all = [...names]
  const near = nearestNames(name, all)
  if (near.length > 0) return `; did you mean ${near.map(whole).join(' or ')}?`
  return validNames(all, path)
}

/** Returns the end of a message that lists the valid names, in the format of {@link didYouMean}. */
export const validNames = (names: readonly string[], path: readonly string[] = []): string => {
  if (names.length === 0) return ''
  const shown = names.slice(0, MAX_LISTED).map((name) => [...path, name].join('.'))
  return `; valid: ${shown.join(', ')}${names.length > MAX_LISTED ? ', ...' : ''}`
}

/**
 * Names are short. A longer string is not a typing mistake, and the time for the comparison grows with the
 * product of both lengths.
 */
const MAX_COMPARED = 64
const MAX_LISTED = 20

const lettersOf = (name: string): string => name.slice(0, MAX_COMPARED).toLowerCase().replaceAll(/[-_]/g, '')
