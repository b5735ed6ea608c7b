import { spelledNumber } from '../values/spelled-number.js'
import { textLiteral } from '../values/quoted.js'

/**
 * Returns the canonical form of a constant default, so that defaults can be compared however a statement or
 * PostgreSQL writes them. Other expressions are returned unchanged.
 *
 * @param type - the column's type, as the catalog names it.
 */
export function postgresDefault(text: string, type: string): string {
  const bare = text.replace(OUTER, '$1')
  const cast = CAST.exec(bare)?.[0] ?? ''
  const value = cast === '' ? bare : bare.slice(0, -cast.length).replace(OUTER, '$1')
  const constant = constantOf(value)
  return (constant === undefined ? undefined : spelled(constant, cast.slice(2), type)) ?? bare
}

const CAST = /::(?:[a-z ]+(?:\(\d+(?:,\d+)?\))?|"[^"]+")(?:\[\])?$/

/** Matches parentheses around a literal or a word. */
const OUTER = /^\(('(?:[^']|'')*'|[^()']*)\)$/s

const WORD = /^(?:true|false|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i

/** Returns the content of a literal, or a number or boolean. */
function constantOf(value: string): string | undefined {
  const [, isEscaped, inside] = /^(E?)'((?:[^']|'')*)'$/is.exec(value) ?? []
  if (inside === undefined) return WORD.test(value) ? value : undefined
  const text = inside.replaceAll("''", "'")
  return isEscaped === '' ? text : text.replaceAll('\\\\', '\\')
}

/**
 * Returns the canonical form of a constant, or undefined if a cast may have changed the value or the type is
 * not compared.
 */
function spelled(constant: string, cast: string, type: string): string | undefined {
  if (TEXT.test(type)) return cast === '' || TEXT_CAST.test(cast) ? textLiteral(constant) : undefined
  if (/^(?:smallint|integer|bigint|numeric|real|double precision)/.test(type)) {
    const isWhole = /^[-+]?\d+$/.test(constant)
    if (/^(?:smallint|integer|bigint)$/.test(cast) && !isWhole) return undefined
    return spelledNumber(constant, cast === 'real' || type === 'real' ? 'float' : fractionOf(type))
  }
  if (type === 'boolean') return BOOLEANS.get(constant.toLowerCase())
  if (type === 'uuid') return textLiteral(constant.toLowerCase())
  return cast === '' || cast === type ? textLiteral(constant) : undefined
}

const TEXT = /^(?:text|character varying|character|bpchar)/
/** Casts to a length would truncate the value and are not included. */
const TEXT_CAST = /^(?:text|character varying|bpchar)$/

const fractionOf = (type: string) => (type === 'double precision' ? 'double' : 'exact')

const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...['t', 'true', 'y', 'yes', 'on', '1'].map((text) => [text, 'TRUE'] as const),
  ...['f', 'false', 'n', 'no', 'off', '0'].map((text) => [text, 'FALSE'] as const),
])
