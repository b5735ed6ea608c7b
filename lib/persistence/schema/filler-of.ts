import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { constantText } from '../dialects/values/constant-text.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * What proto3 reads where nobody set the field, as SQL: for the rows that are there before a required column.
 * An entity tag is opaque, so that every row can begin with the same. Undefined where nothing is like
 * nothing, such as for a time.
 */
export function fillerOf(field: Field, dialect: Dialect): string | undefined {
  const { role } = field
  if (role === 'etag') return dialect.text.literal('0')
  if (role !== 'plain' && role !== 'outputOnly') return undefined
  return constantText(kindOf(field).filler(field), dialect)
}
