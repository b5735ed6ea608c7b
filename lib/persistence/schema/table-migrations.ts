import { DeclarationError } from '../../errors.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { forMigrated, MIGRATED_DIALECTS, type MigratedDialect } from '../dialects/migrated-dialects.js'
import { quoteTable } from '../dialects/quote-table.js'
import { createNewTable } from './create-table.js'
import { resourcesIn } from './resources-in.js'
import { tableNameOf, tableText } from './table-name-of.js'
import { tableOf } from './table-of.js'

/** The SQL of one version, up and down. */
export interface TableSql {
  /** The table that it creates. Without a schema, the table is in the schema that the migrations run in. */
  readonly table: TableName
  readonly up: string
  readonly down: string
}

/** The migration that creates the table of one resource. */
export interface TableMigration {
  /** `widgets`, or `inventory.widgets` where the entity names a schema. */
  readonly table: string
  /** The SQL for one engine. `mysql` is for MySQL 8 and MariaDB. */
  readonly sqlFor: (dialect: MigratedDialect) => TableSql
  /** What you have to know before you apply it, one sentence each. */
  readonly notes: readonly string[]
}

/**
 * The migrations that create the tables of the resources that a module exports, sorted by table name. Pass
 * `await import('./entities.js')`. They have the primary key, every index, and the collations that isolation, uniqueness
 * and order need. A DataSource among the exports gives its `entityPrefix` and naming strategy. Empty without a resource.
 * @throws DeclarationError for a resource whose declarations contradict each other, and for two resources of one table.
 */
export function tableMigrations(exports: Readonly<Record<string, unknown>>): readonly TableMigration[] {
  const { models, naming } = resourcesIn(exports)
  const { postgres, mysql } = MIGRATED_DIALECTS
  const tables = models.map((model) => ({
    model,
    table: tableNameOf(model, postgres, naming),
    twin: tableNameOf(model, mysql, naming),
  }))
  const doubled = repeated(tables.map(({ table }) => tableText(table)))
  if (doubled.size > 0)
    throw new DeclarationError(
      'entities',
      [...doubled].map((name) => `two resources have the table ${name}`),
    )
  const doubledTwins = repeated(tables.map(({ twin }) => tableText(twin)))
  return tables.map(({ model, table, twin }) => {
    const name = tableText(table)
    const title = `-- The table of the resource ${model.type}, as its decorators describe it.\n`
    const search =
      model.search?.strategy === 'INDEXED'
        ? [`${name} has INDEXED search: ashlar search generate writes its vector and index`]
        : []
    const elsewhere =
      twin.schema === undefined
        ? []
        : [
            `on MySQL ${tableText(twin)} is in a database that its entity names, and these files do not make: CREATE DATABASE needs more rights than a migration has`,
          ]
    const shared = doubledTwins.has(tableText(twin))
      ? [
          `on MySQL several resources have the table ${tableText(twin)}, because it ignores the schema of an entity: say @Entity({ database }), or another name`,
        ]
      : []
    const keys = mysql.migration?.notes(tableOf(model, mysql, twin)) ?? []
    return {
      table: name,
      sqlFor: forMigrated((dialect) =>
        sqlOf(tableOf(model, dialect, tableNameOf(model, dialect, naming)), dialect, title),
      ),
      notes: [...search, ...elsewhere, ...keys, ...shared],
    }
  })
}

const repeated = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.filter((name, index) => names.indexOf(name) !== index))

function sqlOf(table: TableDefinition, dialect: Dialect, title: string): TableSql {
  const { migration } = dialect
  const comments = migration?.lintComments(table) ?? ''
  const before = table.schema === undefined ? [] : (migration?.createSchema(table.schema) ?? [])
  const statements = [...before, ...createNewTable(table, dialect)].map((text) => `${text};\n`)
  return {
    table: { schema: table.schema, name: table.name },
    up: `${title}${comments}\n${statements.join('\n')}`,
    down: `DROP TABLE ${quoteTable(table, dialect)};\n`,
  }
}
