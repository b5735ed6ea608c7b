/**
 * Matches syntax that RE2 and ECMAScript interpret differently: groups with flags, named classes, `.`, and
 * most escapes of letters.
 */
const DIFFERS = /\(\?(?!:)|\[\[?:|\\[^dDwWbBnrtfv\\./[\](){}*+?|^$-]|(?<!\\)\.|\\[sS]/

/**
 * Returns the pattern if RE2 and JSON Schema match the same strings with it, and undefined otherwise. Both
 * search for a match anywhere in the string.
 */
export function jsonPattern(source: string): string | undefined {
  const outsideOfClasses = source.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, (text) => text.replaceAll('.', '_'))
  if (DIFFERS.test(outsideOfClasses)) return undefined
  try {
    new RegExp(source, 'u')
    return source
  } catch {
    return undefined
  }
}

/** Returns a pattern that matches the string itself. */
export const quotedPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
