/** The longest part of a line that is shown. */
const LONGEST = 120

/**
 * The first line in which a file is another text, in words; undefined when it is the same. @param found -
 * undefined for no file.
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
