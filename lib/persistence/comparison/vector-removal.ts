import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { LiveTable } from '../dialects/catalog/live-table.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import { postgres } from '../dialects/postgres.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR } from '../dialects/search-predicate.js'

/**
 * Returns the migration that drops the stored vector of a search that is no longer INDEXED, or undefined if
 * there is none. PostgreSQL only. It is numbered like the files of `search generate`, which must be applied
 * after the other contract migrations.
 */
export function vectorRemoval(table: TableName, { columns, indexes }: LiveTable): ChangeFile | undefined {
  const generated = columns.find(({ name }) => name === SEARCH_VECTOR)?.generated
  if (generated === undefined) return undefined
  const [name, column] = [quoteTable(table, postgres), postgres.text.quote(SEARCH_VECTOR)]
  const gin = indexes.filter((one) => one.columns.includes(SEARCH_VECTOR))
  return {
    what: `${table.name}_${SEARCH_VECTOR}`,
    isSearch: true,
    up: [`ALTER TABLE ${name} DROP COLUMN IF EXISTS ${column}`],
    down: [
      `ALTER TABLE ${name} ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${generated}) STORED`,
      ...gin.map((one) => `CREATE INDEX ${postgres.text.quote(one.name)} ON ${name} USING gin (${column})`),
    ],
    allow: {
      rules: ['ban-drop-column'],
      reason: 'no running image searches with it, and search generate can write it again',
    },
  }
}
