import type { Dialect } from '../executor.js'
import { quoteIdentifier } from './identifier.js'
import type { OrderTerm } from './order-by.js'

/**
 * The terms as an ORDER BY list, without the keywords. NULL last ascending and first descending is PostgreSQL's own order;
 * elsewhere a nullable column has to say so.
 */
export const toOrderBy = (terms: readonly OrderTerm[], dialect: Dialect): string =>
  terms.map((term) => termText(term, dialect)).join(', ')

const termText = ({ column, direction }: OrderTerm, dialect: Dialect): string => {
  const name = quoteIdentifier(column.column, dialect)
  const text = direction === 'asc' ? name : `${name} DESC`
  if (!column.nullable || dialect === 'postgres') return text
  if (dialect === 'sqlite') return `${text} NULLS ${direction === 'asc' ? 'LAST' : 'FIRST'}`
  return direction === 'asc' ? `${name} IS NULL, ${text}` : `${name} IS NULL DESC, ${text}`
}
