/** A replacement of the characters from `start` to `end`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with all edits, which do not overlap. Of several at one place the first comes first. */
export function edited(text: string, edits: readonly TextEdit[]): string {
  let made = text
  for (const { start, end, text: replacement } of edits.toReversed().sort((a, b) => b.start - a.start))
    made = made.slice(0, start) + replacement + made.slice(end)
  return made
}
