import type { Field } from '../../../resource/fields/field.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { keyEncoderOf, type OfKinds } from './kind-sql.js'

/** Converts keys, references and tenants between strings and column values of an engine. */
export interface PartSql {
  /** Returns the parameter for a string, or NULL if the string is not canonical. NULL matches no row. */
  readonly bind: (text: string) => unknown
  /** Returns a selected value as a string. */
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
