import type { Dialect } from './dialect.js'
import type { PlanColumn } from '../query/plan.js'

/**
 * A column as comparisons and orders write it: its beginning, where no more of it counts.
 * @param table - qualifies the name. In an ORDER BY a bare name means a column of the select list, which may be called
 * like the stored column and hold it converted.
 */
export const columnSql = (column: PlanColumn, dialect: Dialect, table?: string): string => {
  const bare = dialect.quote(column.column)
  const name = table === undefined ? bare : `${dialect.quote(table)}.${bare}`
  return column.first === undefined ? name : dialect.beginning(name, column.first, column.kind)
}
