import { editDistance } from './edit-distance.js'

/** At most three of `names` that a misspelt `name` was probably meant to be, nearest first. Case, `-` and `_` count for nothing. */
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

/** `; did you mean a or b?`, or what there is to choose from when nothing is near; made to follow a message. */
export const didYouMean = (name: string, names: Iterable<string>): string => {
  const all = [...names]
  const near = nearestNames(name, all)
  if (near.length > 0) return `; did you mean ${near.join(' or ')}?`
  if (all.length === 0) return ''
  const shown = all.slice(0, MAX_LISTED).join(', ')
  return `; valid: ${shown}${all.length > MAX_LISTED ? ', ...' : ''}`
}

/** Names are short; what is longer is no typing mistake, and the distance costs the product of both lengths. */
const MAX_COMPARED = 64
const MAX_LISTED = 20

const lettersOf = (name: string): string => name.slice(0, MAX_COMPARED).toLowerCase().replaceAll(/[-_]/g, '')
