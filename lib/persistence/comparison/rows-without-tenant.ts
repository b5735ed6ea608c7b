import type { TableNote } from '../../text/table-difference.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { tableText } from '../schema/table-name-of.js'
import { countedRows } from './counted-rows.js'
import { REACHED_BY_NO_CALL } from './existing-table.js'
import type { ComparedDialect } from './expected-table.js'

/**
 * Counts the rows of an existing table that have no tenant, with bounded work. Another application that
 * writes to the table may insert such rows.
 *
 * @param place - the schema of the table.
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
  const [owner, from] = [dialect.text.quote(column.name), quoteTable(place, dialect)]
  const isIndexed = there.indexes.some(
    ({ columns, where }) => columns[0] === column.name && where === undefined,
  )
  const at = { from, column: owner, key: key.column, isIndexed }
  const counted = await countedRows(at, `${owner} IS NULL`, live, dialect)
  if (counted === undefined) return []
  const table = tableText(definition)
  const text = `${table} has ${counted.many} without a tenant${counted.among}`
  const detail = REACHED_BY_NO_CALL
  return [{ kind: 'rowsWithoutTenant', table, column: column.name, text, detail, rows: counted.rows }]
}
