const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,9}))?$/
/** No 64-bit integer has more digits. */
const MAX_DIGITS = 20

/** The integer a JSON number spells, digit by digit (`1e5`, `100.000`); undefined when it spells none of 64 bits. */
export function exactInteger(text: string): bigint | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return 0n
  const significant = digits.replace(/0+$/, '')
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined
  return BigInt(sign + significant + '0'.repeat(zeros))
}
