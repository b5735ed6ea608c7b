import type { TableDefinition } from './table-definition.js'

/** The SQL that migrations of new tables need. */
export interface MigrationSql {
  /** Returns comments that declare intended properties to `migrate lint`. Each ends with a newline. */
  readonly lintComments: (table: TableDefinition) => string
  /**
   * Returns the statements that create a table's schema, or an empty list if migrations are not allowed to.
   */
  readonly createSchema: (schema: string) => readonly string[]
  /** Returns notes for the reader of the migration, one sentence each. */
  readonly notes: (table: TableDefinition) => readonly string[]
}
