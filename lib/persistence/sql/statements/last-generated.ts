import type { Field } from '../../../resource/fields/field.js'
import { INT64, isIn32Bits } from '../../../resource/kinds/integers.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import type { Dialect } from '../../dialects/dialect.js'

/**
 * Returns the largest number of the key's type if the identity column can generate larger ones, as a wider
 * column of an existing table can.
 */
function lastGenerated({ key, existing }: ResourceModel, { ddl: { identity } }: Dialect): bigint | undefined {
  const { increments } = kindOf(key)
  if (key.isIdentity !== true || typeof increments === 'string') return undefined
  if (existing ? !isIn32Bits(key.kind) : identity.endsWithKind(key.kind)) return undefined
  const [, most] = key.range ?? increments.range
  return BigInt(most)
}

/**
 * Returns true if the database may generate a number that exceeds the key's range, so that the insert must be
 * rolled back.
 */
export const mayMintTooMuch = (model: ResourceModel, dialect: Dialect): boolean =>
  lastGenerated(model, dialect) !== undefined && dialect.ddl.identity.in64Bits === undefined

/**
 * Returns how to select the columns of a new row. An arithmetic overflow makes the statement fail if the key
 * exceeds its range.
 */
export function newColumns(model: ResourceModel, dialect: Dialect): (field: Field, column: string) => string {
  const { in64Bits } = dialect.ddl.identity
  const last = lastGenerated(model, dialect)
  if (last === undefined || in64Bits === undefined) return (_, column) => column
  const beyond = INT64[1] - last
  return (field, column) => (field === model.key ? `${in64Bits(column)} + ${beyond} - ${beyond}` : column)
}
