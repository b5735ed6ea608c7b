import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { constantText } from '../dialects/values/constant-text.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * The proto3 value of an unset field as SQL, for existing rows of a new required column. An etag is opaque,
 * so every row can begin with the same one. Undefined if there is no such value, as for a time.
 */
export function fillerOf(field: Field, dialect: Dialect): string | undefined {
  const { role } = field
  if (role === 'etag') return dialect.text.literal('0')
  if (role !== 'plain' && role !== 'outputOnly') return undefined
  const own = dialect.values.kinds[field.kind].filler?.(field)
  return constantText(own ?? kindOf(field).filler(field), dialect)
}
