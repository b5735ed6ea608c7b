import { decimalText } from '../../resource/kinds/fractions.js'
import { Misfit } from '../../resource/kinds/literal.js'
import { didYouMean } from '../../text/nearest-names.js'
import { type FilterTokens, quoted } from './filter-tokens.js'
import { rulesOf } from './plan-rules.js'
import type { PlanColumn, PlanValue } from './query-plan.js'

/**
 * Returns the current token as a value of the column's type, without advancing.
 *
 * @throws InvalidArgument with the position if the column cannot hold the value.
 */
export const typedLiteral = (
  tokens: FilterTokens,
  field: string,
  column: Pick<PlanColumn, 'kind' | 'enumNames' | 'decimal'>,
): PlanValue => {
  const value = rulesOf(column).literal(tokens, column)
  if (!(value instanceof Misfit)) return value
  return tokens.fail(value.text(quoted(field), tokens.found), undefined, didYouMean(tokens.text, value.among))
}

/**
 * Returns the current token as an element of a list, in its proto3 JSON form.
 *
 * @throws InvalidArgument like {@link typedLiteral}.
 */
export const elementLiteral = (
  tokens: FilterTokens,
  field: string,
  element: Pick<PlanColumn, 'kind' | 'enumNames' | 'decimal'>,
): string | number | boolean => {
  const value = typedLiteral(tokens, field, element)
  if (element.decimal !== undefined) return decimalText(value, element)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value instanceof Date ? value.toISOString() : (value as string | number | boolean)
}
