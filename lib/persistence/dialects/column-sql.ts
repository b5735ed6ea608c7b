import type { Inside } from '../../resource/fields/field.js'
import type { Dialect } from './dialect.js'
import type { JsonKind } from './values/json-sql.js'
import type { PlanColumn } from '../query/plan.js'

/**
 * A column as comparisons and orders write it: its beginning, where no more of it counts.
 * @param table - qualifies the name. In an ORDER BY a bare name means a column of the select list, which may be called
 * like the stored column and hold it converted.
 */
export const columnSql = (column: PlanColumn, dialect: Dialect, table?: string): string => {
  const bare = dialect.quote(column.column)
  const name = table === undefined ? bare : `${dialect.quote(table)}.${bare}`
  if (column.inside !== undefined) return insideSql(name, column.kind, column.inside, dialect)
  return column.first === undefined ? name : dialect.beginning(name, column.first, column.kind)
}

/** NULL where no message is around the field; the zero value where there is one that leaves the field out. */
const insideSql = (
  column: string,
  kind: PlanColumn['kind'],
  { keys, zero }: Inside,
  dialect: Dialect,
): string => {
  const { json } = dialect
  if (kind === 'json') return `(CASE WHEN ${json.isObject(column, keys)} THEN 1 END)`
  const value = json.value(column, keys, kind as JsonKind)
  if (zero === undefined) return value
  const nothing = typeof zero === 'string' ? dialect.literal(zero) : json.literal(zero)
  return `(CASE WHEN ${json.isSet(column, keys)} THEN ${value} WHEN ${json.isObject(column, keys.slice(0, -1))} THEN ${nothing} END)`
}
