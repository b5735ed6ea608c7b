/**
 * Returns the canonical form of a number. For a double or float it is the shortest string with the same
 * value, otherwise all digits without insignificant zeros. Returns undefined if the string is not a finite
 * number.
 */
export function spelledNumber(text: string, as: 'exact' | 'double' | 'float'): string | undefined {
  if (as !== 'exact') {
    const value = as === 'float' ? Math.fround(Number(text)) : Number(text)
    return text.trim() !== '' && Number.isFinite(value) ? String(value) : undefined
  }
  const [, sign, whole = '', fraction = ''] = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') return undefined
  const [before, after] = [whole.replace(/^0+(?=\d)/, '') || '0', fraction.replace(/0+$/, '')]
  const digits = after === '' ? before : `${before}.${after}`
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits
}
