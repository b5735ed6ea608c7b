import type { ResourceModel } from '../../resource/resource-model.js'
import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { ForeignKeyDefinition, TableDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import { addForeignKey, createNewTable, dropConstraint } from './create-table.js'

/** A foreign key to add to an existing table. */
export interface AddedForeignKey {
  readonly table: TableDefinition
  readonly key: ForeignKeyDefinition
}

/**
 * Returns the migration that creates a resource's table.
 *
 * @param added - foreign keys of other tables to it.
 */
export function newTable(
  { type }: ResourceModel,
  table: TableDefinition,
  dialect: Dialect,
  added: readonly AddedForeignKey[] = [],
): ChangeFile {
  const {
    ddl: { migration },
  } = dialect
  return {
    what: `create_${table.name}`,
    comments: `-- The table of the resource ${type}, as its decorators describe it.\n${migration?.lintComments(table) ?? ''}\n`,
    up: [
      ...schemaOf(table, dialect),
      ...createNewTable(table, dialect),
      ...added.map((one) => addForeignKey(one.table, one.key, dialect)),
    ],
    down: [
      ...added.map((one) => dropConstraint(one.table, one.key, dialect)),
      `DROP TABLE ${quoteTable(table, dialect)}`,
    ],
  }
}

/** Returns the statements that create the table's schema, if the entity names one. */
export const schemaOf = ({ schema }: TableDefinition, { ddl: { migration } }: Dialect): readonly string[] =>
  schema === undefined ? [] : (migration?.createSchema(schema) ?? [])
