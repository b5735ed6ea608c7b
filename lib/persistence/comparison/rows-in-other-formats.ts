import type { TableNote } from '../../text/table-difference.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { LiveSchema } from '../dialects/catalog/live-table.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { tableText } from '../schema/table-name-of.js'
import { countedRows } from './counted-rows.js'
import type { ComparedDialect } from './expected-table.js'

/**
 * Counts the rows whose UUIDs are stored as strings in a different format than Ashlar's, with bounded work.
 * Returns the statement that rewrites them, too.
 *
 * @param place - the schema of the table.
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
    const column = dialect.text.quote(field.column)
    const format = dialect.values.kinds[field.kind].otherFormat?.(field, column)
    if (format === undefined) continue
    const at = { from, column, key: key.column, isIndexed: false }
    const counted = await countedRows(at, format.condition, live, dialect)
    if (counted === undefined) continue
    notes.push({
      kind: 'rowsInOtherFormats',
      table,
      column: field.column,
      text: `${table}.${field.column} has ${counted.many} whose UUID is in another format${counted.among}`,
      detail: `only the exact stored string finds them; rewrite them together with the columns that refer to them: UPDATE ${from} SET ${column} = ${format.canonical} WHERE ${format.condition}`,
      rows: counted.rows,
    })
  }
  return notes
}
