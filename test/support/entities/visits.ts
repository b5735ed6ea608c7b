/**
 * How many elements of arrays, maps and sets a synchronous function visits by iteration: loops, spreads, and
 * copies made with `new Map(...)`. Says whether work grows with the input or with its square, whatever the
 * machine does beside.
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
 * That four times the input is at most about four times the work. `work` says what an input of that size
 * costs.
 */
export function isLinear(work: (size: number) => number, size: number): boolean {
  return work(size * 4) <= work(size) * 5
}
