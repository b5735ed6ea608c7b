import type { Field } from '../../../resource/fields/field.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { keyEncoderOf, type OfKinds } from './kind-sql.js'

/** A part of a key, a reference or a tenant, which is text in the process, in the rows of an engine. */
export interface PartSql {
  /** The parameter for a string: NULL, which no row has, if it is not canonical. */
  readonly bind: (text: string) => unknown
  /** The text of what a statement has selected. */
  readonly read: (stored: unknown) => string
}

export function partSql(field: Field, dialect: OfKinds): PartSql {
  const { valueOf, textOf } = keyPartOf(field)
  const encode = keyEncoderOf(field, dialect)
  const decode = dialect.values.kinds[field.kind].decoder(field)
  return {
    bind: (text) => {
      const value = valueOf(text)
      if (value === undefined) return null
      return encode === undefined ? value : encode(value)
    },
    read: (stored) => textOf(decode(stored)),
  }
}
