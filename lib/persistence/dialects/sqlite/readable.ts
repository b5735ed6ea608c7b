import type { Element, Facets } from '../../../resource/kinds/kind.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { jsonTypesOf, labelsIn, listPattern, NUMBER_DIGITS } from '../values/kind-sql.js'
import { textLiteral } from '../values/quoted.js'

/** Conditions for values that an entity can represent: see `KindSql.readable`. */

/**
 * Returns the condition for a readable time. SQLite does not accept an offset without a colon, so both forms
 * are tried.
 */
export function readableTime(column: string): string {
  const withColon = `substr(${column}, 1, length(${column}) - 2) || ':' || substr(${column}, -2)`
  return `${readableDate(column)} AND COALESCE(datetime(${column}), datetime(${withColon})) IS NOT NULL`
}

/**
 * Returns the condition for a readable date. SQLite reads 30 February as 1 March; the comparison with the
 * input excludes such dates.
 */
export const readableDate = (column: string): string =>
  `typeof(${column}) = 'text' AND substr(${column}, 1, 4) > '0000' AND date(substr(${column}, 1, 10)) = substr(${column}, 1, 10)`

export const readableEnum = (column: string, field: Facets): string | undefined =>
  labelsIn(field, textLiteral, (labels) => `${column} COLLATE BINARY IN (${labels})`)

/**
 * Returns the condition for a readable decimal. SQLite stores a number with more digits as a fraction of 15
 * digits.
 */
export function readableDecimal(column: string, { decimal }: Facets): string {
  const isNumber = `typeof(${column}) IN ('integer', 'real') AND abs(${column}) < 1e100`
  if (decimal?.inProperty !== 'number') return isNumber
  return `${isNumber} AND (typeof(${column}) = 'real' OR length(rtrim(abs(${column}), '0')) <= ${NUMBER_DIGITS})`
}

export function readableList(column: string, { list }: Facets): string | undefined {
  const isWrong =
    list && labelsIn(list.element, textLiteral, (labels) => `e.type <> 'text' OR e.value NOT IN (${labels})`)
  if (list?.as === 'array') {
    const isArray = `json_valid(${column}) AND json_type(${column}) = 'array'`
    return `(CASE WHEN ${isArray} THEN ${areAll(column, isWrong ?? wrongElement(list.element))} ELSE 0 END)`
  }
  if (listPattern(list) === undefined) return undefined
  const json = `CASE ${column} WHEN '' THEN '[]' ELSE '[' || replace(json_quote(${column}), ',', '","') || ']' END`
  return areAll(json, isWrong ?? `e.value GLOB '*[^-+.0-9eE]*'`)
}

const areAll = (json: string, isWrong: string): string =>
  `NOT EXISTS (SELECT 1 FROM json_each(${json}) AS e WHERE ${isWrong})`

/** The condition of an element `e` that the field cannot hold. */
function wrongElement(element: Element): string {
  const { increments } = kindOf(element)
  const { family } = kindOf(element).declared
  const types = jsonTypesOf(element, {
    text: `'text'`,
    booleans: `'true', 'false'`,
    integers: `'integer'`,
    fractions: `'integer', 'real'`,
  })
  const isOther = `e.type NOT IN (${types})`
  if (family === 'times') return `${isOther} OR NOT (${readableTime('e.value')})`
  const isNumberLike = `e.value = '' OR e.value GLOB '*[^-+.0-9eE]*'`
  if (family === 'decimals') return `${isOther} OR ${isNumberLike}`
  if (family !== 'integers' || typeof increments === 'string') return isOther
  const [least, most] = element.range ?? increments.range
  const isBeyond = `CAST(e.value AS NUMERIC) NOT BETWEEN ${least} AND ${most}`
  return `${isOther} OR e.value = '' OR e.value GLOB '*[^-0-9]*' OR ${isBeyond}`
}
