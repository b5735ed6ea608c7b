import type { TableDefinition } from './table-definition.js'

/** The SQL that migrations of generated tables need. */
export interface MigrationSql {
  /** Comments for `migrate lint` about a table that is as it is on purpose; each ends its line. */
  readonly lintComments: (table: TableDefinition) => string
  /** Statements that make a schema which a table is in; none where a migration has no right to. */
  readonly createSchema: (schema: string) => readonly string[]
  /** Notes to read before the table is created, one sentence each. */
  readonly notes: (table: TableDefinition) => readonly string[]
}
