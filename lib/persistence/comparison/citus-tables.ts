import type { ResourceModel } from '../../resource/resource-model.js'
import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import { BEFORE_DISTRIBUTION, ifCitus, MAKES_CREDENTIAL_TENANTS } from '../dialects/citus/citus.js'
import { quoteTable } from '../dialects/quote-table.js'
import { textLiteral } from '../dialects/values/quoted.js'
import { addForeignKey, createIndex, dropConstraint } from '../schema/create-table.js'
import type { ComparedDialect } from './expected-table.js'

/**
 * Returns the migration that creates a table and distributes it if the database has Citus. A table without a
 * tenant is replicated to every server.
 */
export function distributed(
  file: ChangeFile,
  model: ResourceModel,
  table: TableDefinition,
  dialect: ComparedDialect,
): ChangeFile {
  const { tenant } = model
  if (!dialect.can.distribution) return file
  const name = textLiteral(quoteTable(table, dialect))
  const call =
    tenant === undefined
      ? `create_reference_table(${name})`
      : `create_distributed_table(${name}, ${textLiteral(tenant.column)})`
  const steps = [...withCredentials(model, table, dialect), `PERFORM ${call}`]
  return { ...file, up: [...BEFORE_DISTRIBUTION, ...file.up, ifCitus(steps)] }
}

/**
 * Adds a table of public ids on the coordinator, because Citus accepts a unique index only if it contains the
 * tenant.
 */
function withCredentials(
  { tenant, credentials }: ResourceModel,
  table: TableDefinition,
  dialect: ComparedDialect,
): readonly string[] {
  if (tenant === undefined || credentials.length === 0) return []
  const ids = credentials.map(({ publicId }) => publicId.column)
  const indexes = table.indexes.filter(({ unique, columns }) => unique && ids.includes(columns.join()))
  return [
    MAKES_CREDENTIAL_TENANTS,
    ...indexes.flatMap((index) => [
      `DROP INDEX ${quoteTable({ schema: table.schema, name: index.name }, dialect)}`,
      createIndex(table, { ...index, columns: [tenant.column, ...index.columns] }, dialect),
    ]),
  ]
}

const LOCKS = 'Citus cannot validate a foreign key later if the tenant is a varchar'

/** Returns a dialect that changes the model's table with statements that Citus accepts. */
export function distributing(
  dialect: ComparedDialect,
  { tenant }: ResourceModel,
  { columns }: TableDefinition,
): ComparedDialect {
  const type = columns.find(({ name }) => name === tenant?.column)?.catalogType
  if (!dialect.can.distribution || type?.startsWith('character varying') !== true) return dialect
  const { catalog } = dialect
  const changes = {
    ...catalog.live.changes,
    addForeignKey: (...[table, key]: Parameters<typeof catalog.live.changes.addForeignKey>) => [
      {
        what: `foreign_key_${key.name}`,
        up: [addForeignKey(table, key, dialect)],
        down: [dropConstraint(table, key, dialect)],
        allow: { rules: ['adding-foreign-key-constraint', 'constraint-missing-not-valid'], reason: LOCKS },
      },
    ],
  }
  return { ...dialect, catalog: { ...catalog, live: { ...catalog.live, changes } } }
}
