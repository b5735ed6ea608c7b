import { spelledNumber } from '../values/spelled-number.js'
import { textLiteral } from '../values/quoted.js'

/**
 * The canonical form of a default, for each value that a column of the type can hold, however a statement or
 * PostgreSQL writes it; for anything but a constant, the text.
 * @param type - of the column, as the catalog names it.
 */
export function postgresDefault(text: string, type: string): string {
  const bare = text.replace(OUTER, '$1')
  const cast = CAST.exec(bare)?.[0] ?? ''
  const value = cast === '' ? bare : bare.slice(0, -cast.length).replace(OUTER, '$1')
  const constant = constantOf(value)
  return (constant === undefined ? undefined : spelled(constant, cast.slice(2), type)) ?? bare
}

const CAST = /::(?:[a-z ]+(?:\(\d+(?:,\d+)?\))?|"[^"]+")(?:\[\])?$/

/** Around a literal or a plain word. */
const OUTER = /^\(('(?:[^']|'')*'|[^()']*)\)$/s

const WORD = /^(?:true|false|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i

/** The content of a literal, or a number or a boolean. */
function constantOf(value: string): string | undefined {
  const [, isEscaped, inside] = /^(E?)'((?:[^']|'')*)'$/is.exec(value) ?? []
  if (inside === undefined) return WORD.test(value) ? value : undefined
  const text = inside.replaceAll("''", "'")
  return isEscaped === '' ? text : text.replaceAll('\\\\', '\\')
}

/** Undefined where a cast may have changed the value, or the type has no constants that are compared. */
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
/** With a length it cuts. */
const TEXT_CAST = /^(?:text|character varying|bpchar)$/

const fractionOf = (type: string) => (type === 'double precision' ? 'double' : 'exact')

const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...['t', 'true', 'y', 'yes', 'on', '1'].map((text) => [text, 'TRUE'] as const),
  ...['f', 'false', 'n', 'no', 'off', '0'].map((text) => [text, 'FALSE'] as const),
])
