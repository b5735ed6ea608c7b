/** The candidate that `word` was most likely meant to be, or undefined when none is close. Case, `-` and `_` count for nothing. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const asked = letters(word)
  let best: string | undefined
  let fewest = Math.max(1, Math.floor(asked.length / 3)) + 1
  for (const candidate of candidates) {
    const edits = distance(asked, letters(candidate))
    if (edits >= fewest) continue
    fewest = edits
    best = candidate
  }
  return best
}

const LONGEST_WORD = 64

function letters(word: string): string {
  return word
    .slice(0, LONGEST_WORD)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current[column] = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1)
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (row > 1 && column > 1 && swapped)
        current[column] = Math.min(at(current, column), at(beforeLast, column - 2) + 1)
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity
