/**
 * Returns `text` on one line of at most `longest` characters, without terminal control codes, because it may
 * be untrusted.
 */
export function terminalLine(text: string, longest = 500): string {
  return cut(withoutControlCodes(text.replaceAll(/\s+/gu, ' ')).trim(), longest)
}

/** Returns a line of a file without terminal control codes. Its spaces are kept. */
export const sourceLine = (line: string, longest = 500): string =>
  cut(withoutControlCodes(line.replaceAll('\t', '  ')), longest)

const withoutControlCodes = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD')

const cut = (line: string, longest: number): string =>
  line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
