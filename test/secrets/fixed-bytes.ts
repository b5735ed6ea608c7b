/** Bytes that look random and are the same in every run: those of a linear congruential generator. */
export function fixedBytes(seed: number): (size: number) => Uint8Array {
  let state = seed
  return (size) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return state >>> 24
    })
}
