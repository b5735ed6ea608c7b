import type { Dialect } from './dialect.js'
import { StoredLiteral } from '../../resource/kinds/stored-literal.js'
import type { OrderTerm } from '../query/order-by.js'
import { type PageCursor, malformed } from '../query/page-token.js'
import { rulesOf } from '../query/plan-rules.js'
import type { PlanColumn } from '../query/query-plan.js'

/**
 * Rejects a cursor whose values no row of this database can have, because comparing them would fail.
 *
 * @param dialect - undefined in memory, where Ashlar wrote all values.
 * @throws InvalidArgument on `page_token`.
 */
export const checkCursor = (
  cursor: PageCursor | undefined,
  terms: readonly OrderTerm[],
  dialect?: Dialect,
): void => {
  if (cursor?.kind !== 'keyset') return
  for (const [i, { column }] of terms.entries())
    if (!isOfDatabase(column, cursor.values[i], dialect)) malformed()
}

const isOfDatabase = (column: PlanColumn, value: unknown, dialect: Dialect | undefined): boolean => {
  if (value instanceof StoredLiteral)
    return dialect?.values.kinds[column.kind].literal?.(value, 1) !== undefined
  if (value === null || rulesOf(column).isForeign?.(value) !== true) return true
  if (dialect === undefined) return column.otherFormats !== undefined
  return dialect.values.kinds[column.kind].holds?.(value) === true
}
