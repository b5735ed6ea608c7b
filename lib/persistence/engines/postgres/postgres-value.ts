import { bufferOf } from '../../dialects/values/buffer-of.js'

/**
 * Converts a value to PostgreSQL's string format. Bytes are unchanged. Values must have passed `checkValues`.
 */
export function toPostgres(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value
  if (value === null) return null
  if (value instanceof Uint8Array) return bufferOf(value)
  if (Array.isArray(value)) return toArrayLiteral(value)
  return String(value as Scalar)
}

type Scalar = string | number | bigint | boolean

/**
 * Returns an array literal `{…}`. Every element is quoted, so that none is read as NULL or as a delimiter.
 */
function toArrayLiteral(items: readonly unknown[]): string {
  if (items.length > 0 && items.every(isText) && !SPECIAL.test(items.join('')))
    return `{"${items.join('","')}"}`
  let literal = '{'
  for (let index = 0; index < items.length; index++) {
    if (index > 0) literal += ','
    literal += toElement(items[index])
  }
  return `${literal}}`
}

function toElement(item: unknown): string {
  if (item === null) return 'NULL'
  if (Array.isArray(item)) return toArrayLiteral(item)
  if (item instanceof Uint8Array) return `"\\\\x${bufferOf(item).toString('hex')}"`
  const text = String(item as Scalar)
  return `"${SPECIAL.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

const isText = (item: unknown): boolean => typeof item === 'string'

const SPECIAL = /["\\]/
