const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,9}))?$/
/** No 64-bit integer has more digits. */
const MAX_DIGITS = 20

/** Parses a JSON number exactly (`1e5`, `100.000`); undefined if it is not a 64-bit integer. */
export function exactInteger(text: string): bigint | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = whole + fraction
  const [from, to] = significantDigits(digits)
  if (from === to) return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - to
  if (zeros < 0 || to - from + zeros > MAX_DIGITS) return undefined
  return BigInt(sign + digits.slice(from, to) + '0'.repeat(zeros))
}

/**
 * Returns the first and last position of the digits between leading and trailing zeros. A loop, because a
 * caller can send a million zeros.
 */
function significantDigits(digits: string): readonly [number, number] {
  let from = 0
  let to = digits.length
  while (from < to && digits[from] === '0') from++
  while (to > from && digits[to - 1] === '0') to--
  return [from, to]
}
