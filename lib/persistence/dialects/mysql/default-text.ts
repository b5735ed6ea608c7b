import { spelledNumber } from '../values/spelled-number.js'

/** Returns a string as an SQL literal. */
export const mysqlLiteral = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`

/**
 * Returns the canonical form of a default, so that defaults can be compared however a statement or catalog
 * writes them. Anything but a constant is returned unchanged. NULL does not count as a default.
 * @param type - the column's type, as the catalog names it.
 */
export function mysqlDefault(text: string, type: string): string | undefined {
  const stripped = text.replace(/^\((.*)\)$/s, '$1')
  // MySQL 8 reports an expression with its quotes and backslashes escaped once more.
  const bare = /^_\w+\\'/.test(stripped) ? stripped.replace(/\\(.)/gs, '$1') : stripped
  if (/^NULL$/i.test(bare)) return undefined
  const inside = LITERAL.exec(bare)?.[1]
  if (inside !== undefined) return mysqlConstant(unescaped(inside), type)
  return NUMBER.test(bare)
    ? mysqlConstant(bare, type)
    : bare.replace(/^current_timestamp/i, 'CURRENT_TIMESTAMP')
}

/** Returns a default's value in the form that {@link mysqlDefault} returns. */
export function mysqlConstant(value: string, type: string): string {
  const as = /^(?:tiny|small|medium|big)?int|^decimal/.test(type) ? 'exact' : FRACTIONS.get(type)
  return (as === undefined ? undefined : spelledNumber(value, as)) ?? mysqlLiteral(value)
}

/** True if the catalog's default is a single literal or number. */
export const isConstant = (text: string): boolean => LITERAL.test(text) || NUMBER.test(text)

const LITERAL = /^(?:_utf8mb4)?'((?:[^'\\]|''|\\.)*)'$/s

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i

const FRACTIONS: ReadonlyMap<string, 'double' | 'float'> = new Map([
  ['double', 'double'],
  ['float', 'float'],
])

/** Resolves escape sequences, see https://dev.mysql.com/doc/refman/8.4/en/string-literals.html. */
const unescaped = (text: string): string =>
  text.replace(/''|\\(.)/gs, (_, escaped?: string) =>
    escaped === undefined ? "'" : (ESCAPED.get(escaped) ?? escaped),
  )

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['b', '\b'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['Z', '\x1a'],
])

/**
 * Returns true if the catalog's default may be the wanted one. The catalog shows six digits of a float, and
 * question marks for characters beyond U+FFFF.
 */
export function seemsSameDefault(is: string, wanted: string, type: string): boolean {
  if (type === 'float') return Math.abs(Number(is) - Number(wanted)) <= Math.abs(Number(wanted)) * 5.1e-6
  return ASTRAL.test(wanted) && shown(is) === shown(wanted)
}

const ASTRAL = /[\u{10000}-\u{10FFFF}]/u

const shown = (text: string): string => text.replaceAll(/[?\u{10000}-\u{10FFFF}]+/gu, '?')
