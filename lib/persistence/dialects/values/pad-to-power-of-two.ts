/**
 * Pads the keys to a power of two by repeating the last key. This limits the number of distinct statements,
 * and the same rows are found.
 */
export function padToPowerOfTwo<T>(keys: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(keys.length))
  return [...keys, ...Array<T>(length - keys.length).fill(keys[keys.length - 1] as T)]
}
