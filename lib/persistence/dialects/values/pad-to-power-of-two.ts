/**
 * Few shapes for many lengths: the last key is repeated, which changes nothing about which rows are found.
 */
export function padToPowerOfTwo<T>(keys: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(keys.length))
  return [...keys, ...Array<T>(length - keys.length).fill(keys[keys.length - 1] as T)]
}
