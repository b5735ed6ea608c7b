import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { constantText } from '../dialects/values/constant-text.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * Returns the SQL value for existing rows of a new required column: the proto3 default. All rows can have the
 * same etag, because etags are opaque. Returns undefined if there is no such value, for example for a time.
 */
export function fillerOf(field: Field, dialect: Dialect): string | undefined {
  const { role } = field
  if (role === 'etag') return dialect.text.literal('0')
  if (role !== 'plain' && role !== 'outputOnly') return undefined
  const own = dialect.values.kinds[field.kind].filler?.(field)
  return constantText(own ?? kindOf(field).filler(field), dialect)
}
