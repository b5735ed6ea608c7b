/** `text` on one line of at most `longest` characters, without terminal control codes: the text may be untrusted. */
export function terminalLine(text: string, longest = 500): string {
  const line = text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD')
    .trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
}
