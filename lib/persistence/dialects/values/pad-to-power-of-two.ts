/**
 * Few shapes for many lengths: the last key is repeated, which changes nothing about which rows are found.
 */
export function padToPowerOfTwo(keys: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(keys.length))
  return [...keys, ...Array<string>(length - keys.length).fill(keys[keys.length - 1] as string)]
}
