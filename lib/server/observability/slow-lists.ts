import { ReportLimit } from '../../faults/report-limit.js'
import { type ListedRows, onListTime, type Unserved } from '../../persistence/sql/transaction.js'
import type { Logger } from './logger.js'

/**
 * Logs lists that take at least `leastMs`, once per sort order and minute, with the index that would help.
 * @param now - returns milliseconds of a monotonic clock.
 * @returns a function that stops the logging.
 */
export function logSlowLists(logger: Logger, leastMs: number, now?: () => number): () => void {
  if (leastMs === Number.POSITIVE_INFINITY) return () => {}
  const limit = new ReportLimit(now)
  return onListTime(({ listed, durationMs }) => {
    if (durationMs < leastMs) return
    const { table, order } = listed
    const advice = adviceOf(listed)
    limit.tell([table, order, advice].join('\n'), undefined, (more) =>
      logger.warn(
        { table, orderBy: order, durationMs: Math.round(durationMs) },
        `a list was slow: ${advice}${more}`,
      ),
    )
  })
}

function adviceOf({ entity, index, unserved }: ListedRows): string {
  const why = unserved === undefined ? '' : `: ${reasonOf(unserved)}`
  if (index === undefined) return `no index matches its sort order${why}`
  const decorator = `@Index([${index.on.map((property) => `'${property}'`).join(', ')}])`
  if (index.isDeclared)
    return why === ''
      ? `${entity} has an index for its sort order, so check its filter`
      : `${entity} has an index for a part of it, but none matches its sort order${why}`
  return why === ''
    ? `write ${decorator} on ${entity}`
    : `${decorator} on ${entity} matches a part of it, but no index matches its sort order${why}`
}

function reasonOf(unserved: Unserved): string {
  switch (unserved.why) {
    case 'unbounded':
      return `${unserved.field} has no length, or one above 512`
    case 'nullable':
      return `${unserved.field} can be empty, and this database keeps such rows elsewhere in an index`
    case 'collation':
      return `${unserved.field} is sorted by code point, but an index on it uses its collation`
    case 'elsewhere':
      return `${unserved.field} is not a column of the table`
    case 'directions':
      return 'it is ascending and descending at once'
    case 'tenants':
      return 'it covers all tenants, but an index begins with the tenant'
  }
}
