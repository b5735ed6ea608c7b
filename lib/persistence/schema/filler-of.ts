import type { Field } from '../../resource/fields/field.js'
import type { Dialect } from '../dialects/dialect.js'

/**
 * What proto3 reads where nobody set the field, as SQL: for the rows that are there before a required column. An entity tag
 * is opaque, so that every row can begin with the same. Undefined where nothing is like nothing, such as for a time.
 */
export function fillerOf({ kind, role, enumNames, repeated }: Field, dialect: Dialect): string | undefined {
  if (role === 'etag') return dialect.literal('0')
  if (role !== 'plain' && role !== 'outputOnly') return undefined
  switch (kind) {
    case 'string':
      return dialect.literal('')
    case 'enum': {
      const name = enumNames?.nameOf.get(0)
      return name === undefined ? undefined : dialect.literal(name)
    }
    case 'bool':
      return dialect.json.literal(false)
    case 'timestamp':
    case 'bytes':
      return undefined
    case 'tags':
      return dialect.literal('{}')
    case 'json':
      return dialect.literal(repeated ? '[]' : '{}')
    default:
      return '0'
  }
}
