import type { Field } from '../../../resource/fields/field.js'
import { INT64, isIn32Bits } from '../../../resource/kinds/integers.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import type { Dialect } from '../../dialects/dialect.js'

/**
 * Returns the largest number that the key can hold, if its identity column can generate larger ones: the
 * column of an existing table can be wider than the entity's type.
 */
function lastGenerated({ key, existing }: ResourceModel, { ddl: { identity } }: Dialect): bigint | undefined {
  const { increments } = kindOf(key)
  if (key.isIdentity !== true || typeof increments === 'string') return undefined
  if (existing ? !isIn32Bits(key.kind) : identity.endsWithKind(key.kind)) return undefined
  const [, most] = key.range ?? increments.range
  return BigInt(most)
}

/** True if only a rollback takes back a number that the key does not hold. */
export const mayMintTooMuch = (model: ResourceModel, dialect: Dialect): boolean =>
  lastGenerated(model, dialect) !== undefined && dialect.ddl.identity.in64Bits === undefined

/**
 * Reads the columns of a new row. A number beyond the last one leaves the range of 64 bits on the way, which
 * fails the statement.
 */
export function newColumns(model: ResourceModel, dialect: Dialect): (field: Field, column: string) => string {
  const { in64Bits } = dialect.ddl.identity
  const last = lastGenerated(model, dialect)
  if (last === undefined || in64Bits === undefined) return (_, column) => column
  const beyond = INT64[1] - last
  return (field, column) => (field === model.key ? `${in64Bits(column)} + ${beyond} - ${beyond}` : column)
}
