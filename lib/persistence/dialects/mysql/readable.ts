import type { Element, Facets } from '../../../resource/kinds/kind.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { jsonTypesOf, labelsIn, listPattern, NUMBER_DIGITS } from '../values/kind-sql.js'
import { mysqlLiteral } from './default-text.js'
import { elementsOf } from './json.js'

/** Conditions for values that an entity can represent: see `KindSql.readable`. */

export const readableTime = (column: string): string =>
  `${column} >= '0001-01-01' AND MONTH(${column}) > 0 AND DAYOFMONTH(${column}) > 0`

export const readableEnum = (column: string, field: Facets): string | undefined =>
  labelsIn(field, mysqlLiteral, (labels) => `CAST(${column} AS BINARY) IN (${labels})`)

export const readableDecimal = (column: string, { decimal }: Facets): string | undefined =>
  decimal?.inProperty === 'number'
    ? `CHAR_LENGTH(TRIM(BOTH '0' FROM REPLACE(ABS(${column}), '.', ''))) <= ${NUMBER_DIGITS}`
    : undefined

export function readableList(column: string, { list }: Facets): string | undefined {
  if (list?.as === 'array') {
    const isArray = `JSON_TYPE(${column}) = 'ARRAY'`
    const isWrong = labelsIn(list.element, mysqlLiteral, (labels) => `NOT IN (${labels})`)
    if (isWrong === undefined) {
      const types = jsonTypesOf(list.element, {
        text: `'STRING'`,
        booleans: `'BOOLEAN'`,
        integers: `'INTEGER', 'UNSIGNED INTEGER'`,
        fractions: `'INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'`,
      })
      return `${isArray} AND NOT EXISTS (SELECT 1 FROM ${elementsOf(column, 'JSON')} WHERE COALESCE(JSON_TYPE(e.\`list element\`), 'NULL') NOT IN (${types})${wrongNumber(list.element)})`
    }
    const elements = elementsOf(column, 'LONGTEXT CHARACTER SET utf8mb4')
    return `${isArray} AND NOT EXISTS (SELECT 1 FROM ${elements} WHERE e.\`list element\` IS NULL OR CAST(e.\`list element\` AS BINARY) ${isWrong})`
  }
  const pattern = listPattern(list)
  return pattern === undefined
    ? undefined
    : `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin REGEXP ${mysqlLiteral(pattern)}`
}

/** Returns the rest of the condition for elements that contain times, or integers and decimals as strings. */
function wrongNumber(element: Element): string {
  const { increments, declared } = kindOf(element)
  const text = 'JSON_UNQUOTE(e.`list element`)'
  if (declared.family === 'times') return ` OR ${text} NOT REGEXP '^[0-9]{4}-[0-9]{2}-[0-9]{2}T'`
  if (declared.family === 'decimals') return ` OR ${text} NOT REGEXP '^[-+.0-9eE]+$'`
  if (declared.family !== 'integers' || typeof increments === 'string') return ''
  const [least, most] = element.range ?? increments.range
  return ` OR ${text} NOT REGEXP '^-?[0-9]+$' OR CAST(${text} AS DECIMAL(65)) NOT BETWEEN ${least} AND ${most}`
}
