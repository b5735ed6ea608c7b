const CAST = /::(?:[a-z ]+(?:\(\d+(?:,\d+)?\))?|"[^"]+")(?:\[\])?$/

/** A default without the parentheses, casts and spelling that PostgreSQL adds to a constant. */
export function postgresDefault(text: string): string {
  const bare = text.replace(OUTER, '$1')
  const cast = CAST.exec(bare)?.[0] ?? ''
  const value = cast === '' ? bare : bare.slice(0, -cast.length).replace(OUTER, '$1')
  const escaped = /^E'(.*)'$/s.exec(value)?.[1]
  if (escaped !== undefined) return `'${escaped.replaceAll('\\\\', '\\')}'`
  if (/^(true|false)$/i.test(value)) return value.toUpperCase()
  const number = /^'(-?\d+(?:\.\d+)?)'$/.exec(value)?.[1]
  if (number !== undefined && !TEXT.test(cast) && cast !== '') return number
  if (!/^'(?:[^']|'')*'$/s.test(value)) return cast === '' ? value : bare
  return TEXT.test(cast) || cast === '' ? value : `${value}${cast}`
}

/** Around a literal or a plain word. */
const OUTER = /^\(('(?:[^']|'')*'|[^()']*)\)$/s

const TEXT = /^::(?:text|character varying)/
