import type { TableNote } from '../../text/table-difference.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { LiveSchema } from '../dialects/catalog/live-table.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'

/** So many of them are counted. */
const MOST_COUNTED = 1000
/** So many rows are read: those with the last keys. */
const MOST_READ = 100_000

/**
 * Counts the rows whose UUIDs are stored as text in another format than Ashlar writes, with bounded work, and
 * returns the statement that rewrites them.
 * @param place - where the table is.
 */
export async function rowsInOtherFormats(
  { fields, key }: ResourceModel,
  definition: TableDefinition,
  place: TableName,
  live: LiveSchema,
  dialect: ComparedDialect,
): Promise<readonly TableNote[]> {
  const notes: TableNote[] = []
  const from = quoteTable(place, dialect)
  const table = tableText(definition)
  for (const field of fields) {
    const column = dialect.quote(field.column)
    const format = dialect.kinds[field.kind].otherFormat?.(field, column)
    if (format === undefined) continue
    const [row] = await live.rows(
      `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM (SELECT ${column} FROM ${from} ORDER BY ${dialect.quote(key.column)} DESC LIMIT ${MOST_READ}) AS newest WHERE ${format.condition} LIMIT ${MOST_COUNTED}) AS counted`,
    )
    const rows = Number(row?.['n'])
    if (rows === 0) continue
    const many = rows === MOST_COUNTED ? `at least ${rows.toLocaleString('en')} rows` : `${rows} row(s)`
    notes.push({
      kind: 'rowsInOtherFormats',
      table,
      column: field.column,
      text: `${table}.${field.column} has ${many} whose UUID is in another format among the ${MOST_READ.toLocaleString('en')} with the last keys`,
      detail: `only the stored text finds them; rewrite them together with the columns that refer to them: UPDATE ${from} SET ${column} = ${format.canonical} WHERE ${format.condition}`,
      rows,
    })
  }
  return notes
}
