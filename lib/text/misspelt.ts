import { nearestNames } from './nearest-names.js'

/** Returns the sentence for an unknown entity or message, with the name that was probably intended. */
export const misspelt = (name: string, subject: string, names: Iterable<string>): string => {
  const [near] = nearestNames(name, names)
  return `\`${name}\` is not in ${subject}${near === undefined ? '' : `; did you mean \`${near}\`?`}`
}
