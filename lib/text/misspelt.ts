import { nearestNames } from './nearest-names.js'

/** Says that no entity or message has the name, and which one was probably meant. */
export const misspelt = (name: string, subject: string, names: Iterable<string>): string => {
  const [near] = nearestNames(name, names)
  return `\`${name}\` is not in ${subject}${near === undefined ? '' : `; did you mean \`${near}\`?`}`
}
