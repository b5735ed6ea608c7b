const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const LARGEST = (1n << 63n) - 1n

/**
 * Parses a duration of the daemon's protocol, such as `1h30m` or `-1.5s`, to nanoseconds.
 *
 * @throws SyntaxError with the daemon's own message.
 */
export function parseDuration(text: string): bigint {
  const wrong = (why: string): SyntaxError => new SyntaxError(`time: ${why}`)
  const [, sign = '', body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? []
  if (body === '0') return 0n
  if (body === '') throw wrong(`invalid duration ${quoted(text)}`)
  let rest = body
  let total = 0n
  while (rest !== '') {
    const [number = '', whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? []
    if (whole === '' && fraction === '') throw wrong(`invalid duration ${quoted(text)}`)
    rest = rest.slice(number.length)
    const [unit = ''] = /^[^.\d]*/.exec(rest) ?? []
    if (unit === '') throw wrong(`missing unit in duration ${quoted(text)}`)
    const size = Object.hasOwn(NANOSECONDS, unit) ? NANOSECONDS[unit] : undefined
    if (size === undefined) throw wrong(`unknown unit ${quoted(unit)} in duration ${quoted(text)}`)
    rest = rest.slice(unit.length)
    const digits = fraction.slice(0, 18)
    total += BigInt(whole || '0') * size + (BigInt(digits || '0') * size) / 10n ** BigInt(digits.length)
    if (total > LARGEST + (sign === '-' ? 1n : 0n)) throw wrong(`invalid duration ${quoted(text)}`)
  }
  return sign === '-' ? -total : total
}

/** Returns the string in double quotes, as the daemon prints it. */
export const quoted = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/\p{C}/gu, (character) => {
    const short = SHORT[character]
    if (short !== undefined) return short
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code < 0x10000
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\U${code.toString(16).padStart(8, '0')}`
  })}"`

const SHORT: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}
