import type { Facets } from '../../../resource/kinds/kind.js'
import { NUMBER_DIGITS, labelsIn, listPattern } from '../values/kind-sql.js'
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
    if (isWrong === undefined) return isArray
    const elements = elementsOf(column, 'LONGTEXT CHARACTER SET utf8mb4')
    return `${isArray} AND NOT EXISTS (SELECT 1 FROM ${elements} WHERE CAST(e.\`list element\` AS BINARY) ${isWrong})`
  }
  const pattern = listPattern(list)
  return pattern === undefined
    ? undefined
    : `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin REGEXP ${mysqlLiteral(pattern)}`
}
