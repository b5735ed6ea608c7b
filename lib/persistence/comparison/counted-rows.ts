import type { LiveSchema } from '../dialects/catalog/live-table.js'
import type { ComparedDialect } from './expected-table.js'

/** The maximum number of rows that are counted. */
const MAX_COUNTED = 1000
/** The maximum number of rows that are read if no index serves the condition. */
const MAX_READ = 100_000

/**
 * Counts the rows that meet a condition, with bounded work.
 *
 * @param from - the quoted table, which is read in descending order of `key` unless `isIndexed` is set.
 * @returns the number and its wording, such as "at least 1,000 rows", or undefined if no row matches.
 */
export async function countedRows(
  { from, column, key, isIndexed }: { from: string; column: string; key: string; isIndexed: boolean },
  condition: string,
  live: LiveSchema,
  dialect: ComparedDialect,
): Promise<{ rows: number; many: string; among: string } | undefined> {
  const source = isIndexed
    ? from
    : `(SELECT ${column} FROM ${from} ORDER BY ${dialect.text.quote(key)} DESC LIMIT ${MAX_READ}) AS newest`
  const [row] = await live.rows(
    `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM ${source} WHERE ${condition} LIMIT ${MAX_COUNTED}) AS counted`,
  )
  const rows = Number(row?.['n'])
  if (rows === 0) return undefined
  return {
    rows,
    many: `${rows === MAX_COUNTED ? 'at least ' : ''}${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`,
    among: isIndexed ? '' : ` among the ${MAX_READ.toLocaleString('en')} with the last keys`,
  }
}
