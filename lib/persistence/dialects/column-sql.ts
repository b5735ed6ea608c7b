import type { Field, Inside } from '../../resource/fields/field.js'
import type { Dialect } from './dialect.js'
import { rulesOf } from '../query/plan-rules.js'
import type { PlanColumn } from '../query/query-plan.js'

/**
 * A column as comparisons and orders write it: its beginning, where no more of it counts.
 * @param table - qualifies the name. In an ORDER BY a bare name means a column of the select list, which may
 * be called like the stored column and hold it converted.
 */
export const columnSql = (column: PlanColumn, dialect: Dialect, table?: string): string => {
  const bare = dialect.quote(column.column)
  const name = table === undefined ? bare : `${dialect.quote(table)}.${bare}`
  if (column.inside !== undefined) return insideSql(name, column, column.inside, dialect)
  return column.first === undefined ? name : dialect.kinds[column.kind].beginning(name, column.first)
}

/** A key as text, where a statement keeps that beside it. */
export const keyTextSql = (key: Field, { kinds, quote }: Dialect): string => {
  const name = quote(key.column)
  return kinds[key.kind].keyText?.(name, key) ?? name
}

/** NULL where no message is around the field; the zero value where there is one that leaves the field out. */
const insideSql = (name: string, column: PlanColumn, { keys, zero }: Inside, dialect: Dialect): string => {
  const { json } = dialect
  if (rulesOf(column).isNested) return `(CASE WHEN ${json.isObject(name, keys)} THEN 1 END)`
  const value = dialect.kinds[column.kind].inside?.(name, keys)
  if (value === undefined) throw new TypeError(`${column.kind} is not compared inside of a message`)
  if (zero === undefined) return value
  const nothing = typeof zero === 'string' ? dialect.literal(zero) : json.literal(zero)
  return `(CASE WHEN ${json.isSet(name, keys)} THEN ${value} WHEN ${json.isObject(name, keys.slice(0, -1))} THEN ${nothing} END)`
}
