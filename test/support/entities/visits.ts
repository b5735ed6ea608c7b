/**
 * Counts the elements of arrays, maps and sets that a synchronous function iterates over, with loops, spreads
 * and `new Map(...)`. The count shows whether work grows in proportion to the input or to its square, and
 * does not depend on the load of the machine.
 */
export function visitsOf(run: () => unknown): number {
  let visits = 0
  const kinds = [Array.prototype, Map.prototype, Set.prototype] as readonly Iterable<unknown>[]
  const originals = kinds.map((kind) => kind[Symbol.iterator])
  for (const [index, kind] of kinds.entries()) {
    const original = originals[index] as () => Iterator<unknown>
    Object.defineProperty(kind, Symbol.iterator, {
      configurable: true,
      writable: true,
      value: function (this: Iterable<unknown>) {
        const iterator = original.call(this)
        return {
          next: () => {
            visits++
            return iterator.next()
          },
          return: (value?: unknown) => iterator.return?.(value) ?? { done: true, value },
          [Symbol.iterator]() {
            return this
          },
        }
      },
    })
  }
  try {
    run()
  } finally {
    for (let index = 0; index < kinds.length; index++)
      Object.defineProperty(kinds[index], Symbol.iterator, {
        configurable: true,
        writable: true,
        value: originals[index],
      })
  }
  return visits
}

/**
 * Returns whether four times the input costs at most five times the work. `work` returns the cost of an input
 * of the given size.
 */
export function isLinear(work: (size: number) => number, size: number): boolean {
  return work(size * 4) <= work(size) * 5
}
