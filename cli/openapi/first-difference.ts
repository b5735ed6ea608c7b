/** The maximum length of a line in the message. */
const LONGEST = 120

/**
 * Describes the first line in which a file differs; undefined if it does not.
 * @param found - undefined if the file does not exist.
 */
export function firstDifference(found: string | undefined, wanted: string): string | undefined {
  if (found === wanted) return undefined
  if (found === undefined) return 'there is no such file'
  const [has, wants] = [found.split('\n'), wanted.split('\n')]
  const at = wants.findIndex((line, index) => line !== has[index])
  const index = at < 0 ? wants.length : at
  return `line ${index + 1} is ${shown(has[index])} and must be ${shown(wants[index])}`
}

const shown = (line: string | undefined): string => {
  if (line === undefined) return 'missing'
  const text = line.trim()
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : JSON.stringify(text)
}
