/**
 * The syntax that RE2 and ECMAScript interpret differently: groups with flags, named classes, `.`, and most
 * escapes of letters.
 */
const DIFFERS = /\(\?(?!:)|\[\[?:|\\[^dDwWbBnrtfv\\./[\](){}*+?|^$-]|(?<!\\)\.|\\[sS]/

/**
 * The pattern, where RE2 and JSON Schema find the same texts with it; else undefined. Both look for it
 * anywhere in the text.
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

/** A pattern that finds the text itself. */
export const quotedPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
