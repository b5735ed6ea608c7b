import type { Dialect } from './dialect.js'
import { columnSql } from './column-sql.js'
import type { RowNames } from './joined-rows.js'
import type { OrderTerm } from '../query/order-by.js'

/**
 * The terms as an ORDER BY list, without the keywords. NULL is last ascending and first descending.
 * @param table - the table that qualifies the columns, where the select list has other names; or the names of
 * several rows.
 */
export const toOrderBy = (terms: readonly OrderTerm[], dialect: Dialect, table?: string | RowNames): string =>
  terms.map((term) => termText(term, dialect, table)).join(', ')

const termText = ({ column, direction }: OrderTerm, dialect: Dialect, table?: string | RowNames): string => {
  const name = columnSql(column, dialect, typeof table === 'object' ? table.of(column.of) : table)
  if (column.nullable) return dialect.values.orderNullable(name, direction)
  return direction === 'asc' ? name : `${name} DESC`
}
