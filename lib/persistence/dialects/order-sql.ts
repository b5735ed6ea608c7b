import type { Dialect } from './dialect.js'
import { columnSql } from './column-sql.js'
import type { OrderTerm } from '../query/order-by.js'

/**
 * The terms as an ORDER BY list, without the keywords. NULL last ascending and first descending is PostgreSQL's own order;
 * elsewhere a nullable column has to say so.
 * @param table - whose columns are meant, where the select list has names of its own.
 */
export const toOrderBy = (terms: readonly OrderTerm[], dialect: Dialect, table?: string): string =>
  terms.map((term) => termText(term, dialect, table)).join(', ')

const termText = ({ column, direction }: OrderTerm, dialect: Dialect, table?: string): string => {
  const name = columnSql(column, dialect, table)
  const text = direction === 'asc' ? name : `${name} DESC`
  if (!column.nullable || dialect === 'postgres') return text
  if (dialect === 'sqlite') return `${text} NULLS ${direction === 'asc' ? 'LAST' : 'FIRST'}`
  return direction === 'asc' ? `${name} IS NULL, ${text}` : `${name} IS NULL DESC, ${text}`
}
