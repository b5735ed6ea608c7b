import type { Dialect } from './dialect.js'
import { quoteIdentifier } from './identifier.js'
import type { PlanColumn } from '../query/plan.js'

/**
 * A column as comparisons and orders write it: its beginning, where no more of it counts.
 * @param table - qualifies the name. In an ORDER BY a bare name means a column of the select list, which may be called
 * like the stored column and hold it converted.
 */
export const columnSql = (column: PlanColumn, dialect: Dialect, table?: string): string => {
  const bare = quoteIdentifier(column.column, dialect)
  const name = table === undefined ? bare : `${quoteIdentifier(table, dialect)}.${bare}`
  const { first } = column
  if (first === undefined) return name
  // Of no bytes at all, SQLite answers NULL.
  if (dialect === 'sqlite') return `COALESCE(substr(${name}, 1, ${first}), ${name})`
  return dialect === 'postgres' && column.kind === 'bytes'
    ? `substring(${name} from 1 for ${first})`
    : `LEFT(${name}, ${first})`
}
