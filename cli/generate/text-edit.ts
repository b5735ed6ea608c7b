/** A replacement of the characters from `start` to `end`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies edits, which must not overlap. Several edits at the same position are applied in order. */
export function edited(text: string, edits: readonly TextEdit[]): string {
  let made = text
  for (const { start, end, text: replacement } of edits.toReversed().sort((a, b) => b.start - a.start))
    made = made.slice(0, start) + replacement + made.slice(end)
  return made
}
