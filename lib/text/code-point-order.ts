/**
 * Compares strings by code point, as databases do. JavaScript's `<` compares UTF-16 units, which sorts
 * characters above U+FFFF before those from U+E000 on.
 */
export const byCodePoint = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Ranks surrogates above all units that are characters by themselves. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
