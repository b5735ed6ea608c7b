import { randomInt } from 'node:crypto'
import { InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'
import { keyPartOf, type PartValue } from './key-part.js'

/**
 * What a caller is told who chooses a number that the database mints: one near the end of its range would end
 * the numbers of all tenants.
 * @param name - of the field that the caller has set.
 */
export const choosesMinted = (name: string): InvalidArgument =>
  new InvalidArgument(name, 'is a number that the database makes: leave it out')

/** So many numbers `randomInt` tells apart. */
const MOST = 2 ** 47

/**
 * The key of a row that is rolled back (`validate_only`), so that it uses up no number: a negative one, which
 * no database mints. Undefined where the column has none.
 */
export function trialKey(field: Field): PartValue | undefined {
  const { declared, increments } = kindOf(field)
  if (declared.isUnsigned === true || typeof increments === 'string') return undefined
  const [least] = field.range ?? increments.range
  return keyPartOf(field).valueOf(String(-randomInt(1, Math.min(-Number(least), MOST))))
}
