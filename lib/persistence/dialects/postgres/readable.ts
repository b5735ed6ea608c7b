import type { Element, Facets } from '../../../resource/kinds/kind.js'
import { NUMBER_DIGITS, labelsIn, listPattern } from '../values/kind-sql.js'
import { textLiteral } from '../values/quoted.js'

/** Conditions for values that an entity can represent: see `KindSql.readable`. */

export const readableTime = (column: string): string =>
  `${column} >= '0001-01-01 00:00:00+00' AND ${column} < '10000-01-01 00:00:00+00'`

export const readableDate = (column: string): string => `${column} BETWEEN '0001-01-01' AND '9999-12-31'`

export const readableEnum = (column: string, field: Facets): string | undefined =>
  labelsIn(field, textLiteral, (labels) => `${column}::text COLLATE "C" IN (${labels})`)

export function readableDecimal(column: string, { decimal }: Facets): string {
  const isFinite = `${column}::text ~ '^-?[0-9]+([.][0-9]{1,30}0*)?$'`
  if (decimal?.inProperty !== 'number') return isFinite
  return `${isFinite} AND length(trim(BOTH '0' FROM replace(abs(${column})::text, '.', ''))) <= ${NUMBER_DIGITS}`
}

/**
 * Returns the condition for a readable list.
 *
 * @param ofElement - returns the condition on one element.
 */
export function readableList(
  column: string,
  { list }: Facets,
  ofElement: (value: string, element: Element) => string | undefined,
): string | undefined {
  // JSON cannot represent infinities.
  const isFraction = list?.element.kind === 'float' || list?.element.kind === 'double'
  if (list?.as === 'array')
    return readableArray(
      column,
      isFraction ? `e NOT IN ('NaN', 'Infinity', '-Infinity')` : ofElement('e', list.element),
    )
  const pattern = listPattern(list)
  return pattern === undefined ? undefined : `${column} ~ ${textLiteral(pattern)}`
}

function readableArray(column: string, isReadable: string | undefined): string {
  const isWrong = isReadable === undefined ? 'e IS NULL' : `e IS NULL OR NOT (${isReadable})`
  const isPlain = `(cardinality(${column}) = 0 OR array_ndims(${column}) = 1 AND array_lower(${column}, 1) = 1)`
  return `${isPlain} AND NOT EXISTS (SELECT 1 FROM unnest(${column}) AS u(e) WHERE ${isWrong})`
}
