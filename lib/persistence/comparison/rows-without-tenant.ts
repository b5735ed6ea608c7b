import type { TableNote } from '../../text/table-difference.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { tableText } from '../schema/table-name-of.js'
import { REACHED_BY_NOBODY } from './existing-table.js'
import type { ComparedDialect } from './expected-table.js'

/** So many of them are counted. */
const MOST_COUNTED = 1000
/** So many rows are looked at where no index begins with the tenant: those with the last keys. */
const MOST_READ = 100_000

/**
 * Counts the rows of an existing table that belong to no tenant, with bounded work. Another application that
 * writes the table beside this one, and does not know of tenants, makes such rows.
 * @param place - where the table is.
 */
export async function rowsWithoutTenant(
  { tenant, key }: ResourceModel,
  definition: TableDefinition,
  place: TableName,
  there: LiveTable,
  live: LiveSchema,
  dialect: ComparedDialect,
): Promise<readonly TableNote[]> {
  const column = there.columns.find(({ name }) => name === tenant?.column)
  if (column?.nullable !== true) return []
  const [owner, from] = [dialect.quote(column.name), quoteTable(place, dialect)]
  const isIndexed = there.indexes.some(
    ({ columns, where }) => columns[0] === column.name && where === undefined,
  )
  const source = isIndexed
    ? from
    : `(SELECT ${owner} FROM ${from} ORDER BY ${dialect.quote(key.column)} DESC LIMIT ${MOST_READ}) AS newest`
  const [row] = await live.rows(
    `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM ${source} WHERE ${owner} IS NULL LIMIT ${MOST_COUNTED}) AS counted`,
  )
  const rows = Number(row?.['n'])
  if (rows === 0) return []
  const table = tableText(definition)
  const among = isIndexed ? '' : ` among the ${MOST_READ.toLocaleString('en')} with the last keys`
  const many =
    rows === MOST_COUNTED
      ? `at least ${rows.toLocaleString('en')} rows`
      : rows === 1
        ? '1 row'
        : `${rows} rows`
  const text = `${table} has ${many} without a tenant${among}`
  return [{ kind: 'rowsWithoutTenant', table, column: column.name, text, detail: REACHED_BY_NOBODY, rows }]
}
