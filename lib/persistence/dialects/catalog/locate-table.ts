import type { Namespace } from './live-table.js'
import type { Query, TableName } from './table-definition.js'

/**
 * Returns the table with the schema in which PostgreSQL finds it on the search path. Returns it unchanged if
 * it is not found or already has a schema.
 */
export async function locateTable<T extends TableName>(
  query: Query,
  table: T,
  {
    catalog,
    text,
  }: {
    readonly catalog: { readonly namespace: Namespace | undefined }
    readonly text: { readonly quote: (name: string) => string }
  },
): Promise<T> {
  const asked = catalog.namespace?.ofTable
  if (asked === undefined || table.schema !== undefined) return table
  const [found] = await query(asked, [text.quote(table.name)])
  return found === undefined ? table : { ...table, schema: String(found[0]) }
}
