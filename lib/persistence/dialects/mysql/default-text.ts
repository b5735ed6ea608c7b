import { spelledNumber } from '../values/spelled-number.js'

/** A text as a literal. */
export const mysqlLiteral = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`

/**
 * The canonical form of a default, for each value that a column of the type can hold, however a statement or
 * a catalog writes it; for anything but a constant, the text. NULL is not a default.
 * @param type - of the column, as the catalog names it.
 */
export function mysqlDefault(text: string, type: string): string | undefined {
  const stripped = text.replace(/^\((.*)\)$/s, '$1')
  // MySQL 8 shows an expression with its quotes and backslashes escaped once more.
  const bare = /^_\w+\\'/.test(stripped) ? stripped.replace(/\\(.)/gs, '$1') : stripped
  if (/^NULL$/i.test(bare)) return undefined
  const inside = LITERAL.exec(bare)?.[1]
  if (inside !== undefined) return mysqlConstant(unescaped(inside), type)
  return NUMBER.test(bare)
    ? mysqlConstant(bare, type)
    : bare.replace(/^current_timestamp/i, 'CURRENT_TIMESTAMP')
}

/** The value of a default, as {@link mysqlDefault} spells it. */
export function mysqlConstant(value: string, type: string): string {
  const as = /^(?:tiny|small|medium|big)?int|^decimal/.test(type) ? 'exact' : FRACTIONS.get(type)
  return (as === undefined ? undefined : spelledNumber(value, as)) ?? mysqlLiteral(value)
}

/** True if the text of a catalog is one literal or number. */
export const isConstant = (text: string): boolean => LITERAL.test(text) || NUMBER.test(text)

const LITERAL = /^(?:_utf8mb4)?'((?:[^'\\]|''|\\.)*)'$/s

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i

const FRACTIONS: ReadonlyMap<string, 'double' | 'float'> = new Map([
  ['double', 'double'],
  ['float', 'float'],
])

/** https://dev.mysql.com/doc/refman/8.4/en/string-literals.html */
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
 * True if a default can be the wanted one, as the catalogs show it: with six digits of a float, and question
 * marks for a character beyond U+FFFF.
 */
export function seemsSameDefault(is: string, wanted: string, type: string): boolean {
  if (type === 'float') return Math.abs(Number(is) - Number(wanted)) <= Math.abs(Number(wanted)) * 5.1e-6
  return ASTRAL.test(wanted) && shown(is) === shown(wanted)
}

const ASTRAL = /[\u{10000}-\u{10FFFF}]/u

const shown = (text: string): string => text.replaceAll(/[?\u{10000}-\u{10FFFF}]+/gu, '?')
