import type { Dialect } from './dialect.js'
import { columnSql } from './column-sql.js'
import type { RowNames } from './joined-rows.js'
import type { OrderTerm } from '../query/order-by.js'

/**
 * Returns the terms of an ORDER BY clause, without the keywords. NULL sorts last in ascending order and first
 * in descending order.
 * @param table - the qualifier of the columns, needed if the select list uses other names; `RowNames` if the
 * terms use several tables.
 */
export const toOrderBy = (terms: readonly OrderTerm[], dialect: Dialect, table?: string | RowNames): string =>
  terms.map((term) => termText(term, dialect, table)).join(', ')

const termText = ({ column, direction }: OrderTerm, dialect: Dialect, table?: string | RowNames): string => {
  const name = columnSql(column, dialect, typeof table === 'object' ? table.of(column.of) : table)
  if (column.nullable) return dialect.values.orderNullable(name, direction)
  return direction === 'asc' ? name : `${name} DESC`
}
