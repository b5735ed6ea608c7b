/**
 * Returns the number of insertions, deletions, replacements and swaps of neighbors that turn `from` into
 * `to`.
 */
export const editDistance = (from: string, to: string): number => {
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
