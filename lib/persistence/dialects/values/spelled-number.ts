/**
 * The canonical form of a number: for a double or a float the shortest that is read as the same value,
 * otherwise all of its digits without insignificant zeros. Undefined for a string that is not a finite
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
