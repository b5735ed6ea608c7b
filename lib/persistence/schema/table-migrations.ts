import { DeclarationError, problem, type Problem } from '../../errors.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { forMigrated, MIGRATED_DIALECTS, type MigratedDialect } from '../dialects/migrated-dialects.js'
import { relationGraph, type RelationGraph } from '../../resource/relations/graph.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import { referencesOf, unmadeForeignKeys } from './foreign-keys.js'
import { sharedIndexNames } from './index-problems.js'
import { type AddedForeignKey, newTable } from './new-table.js'
import { resourcesIn } from './resources-in.js'
import { versionOf } from './schema-version.js'
import { type Naming, tableNameOf, tableText } from './table-name-of.js'
import { tableOf } from './table-of.js'

/**
 * The SQL of an up and a down migration.
 * @internal
 */
export interface TableSql {
  /** The table that it creates. Without a schema, it is created in the schema that migrations run in. */
  readonly table: TableName
  readonly up: string
  readonly down: string
}

/**
 * The migration that creates the table of one resource.
 * @internal
 */
export interface TableMigration {
  /** The table's name, such as `widgets`, or `inventory.widgets` if the entity names a schema. */
  readonly table: string
  /** Returns the SQL for an engine. `mysql` is for MySQL 8 and MariaDB. */
  readonly sqlFor: (dialect: MigratedDialect) => TableSql
  /** Notes to read before applying it, one sentence each. */
  readonly notes: readonly string[]
}

/**
 * Returns the migrations that create the tables of a module's exported resources. Pass `await
 * import('./entities.js')`. Tables are sorted by name, but come before tables that refer to them. Each has
 * its primary key, indexes, foreign keys, and the collations that isolation, uniqueness and order require. An
 * exported DataSource provides `entityPrefix` and the naming strategy. Returns an empty list if there is no
 * resource.
 *
 * @internal
 * @throws DeclarationError if a resource's declarations contradict each other, or if two resources have the
 *   same table. A problem on only one engine is thrown when that engine's SQL is requested.
 */
export function tableMigrations(exports: Readonly<Record<string, unknown>>): readonly TableMigration[] {
  const { models: all, naming } = resourcesIn(exports)
  const models = all.filter(({ existing }) => !existing)
  const { postgres, mysql } = MIGRATED_DIALECTS
  const outside = targetsOutside(models)
  const graph = relationGraph([...outside, ...models])
  const tables = graph.order
    .filter((model) => models.includes(model))
    .map((model) => namedTable(model, naming))
  const { problems, doubled, doubledTwins } = tableNames(tables)
  if (problems.length > 0) throw new DeclarationError('entities', problems)
  /** Names that differ only on MySQL. */
  const refused = new Map<Dialect, ReadonlySet<string>>([[postgres, doubled]])
  return tables.map(({ model, table, twin }) => {
    const isDoubled = doubled.has(tableText(table))
    const name = tableText(isDoubled ? twin : table)
    const search =
      model.search?.strategy === 'INDEXED'
        ? [`${name} has INDEXED search: ashlar search generate writes its vector and index`]
        : []
    const elsewhere =
      twin.schema === undefined
        ? []
        : [
            `on MySQL ${tableText(twin)} is in a database that its entity names, which these files do not create: CREATE DATABASE needs more privileges than a migration has`,
          ]
    const ofSeveral = doubledTwins.has(tableText(twin))
      ? [
          `on MySQL several resources have the table ${tableText(twin)}, because MySQL ignores an entity's schema: write @Entity({ database }), or use another name`,
        ]
      : []
    const outer = graph
      .parents(model)
      .filter(({ parent }) => outside.includes(parent))
      .map(
        ({ parent }) =>
          `${name} refers to ${parent.entity.name} of another module: its table must exist first${parent.tenantInKey || parent.tenant === undefined || model.tenant === undefined ? '' : `, with a unique index on (${parent.tenant.column}, ${parent.key.column})`}`,
      )
    const linked = (dialect: Dialect) => linkedTable(model, graph, dialect, naming)
    const keys = [postgres, mysql].flatMap(
      (dialect) => dialect.ddl.migration?.notes(linked(dialect).table) ?? [],
    )
    const made = forMigrated((dialect) => {
      const { table: one, added } = linked(dialect)
      const { up, down } = versionOf(newTable(model, one, dialect, added))
      const problems = [
        ...(refused.get(dialect)?.has(tableText(one)) === true ? [ofOneName(table)] : []),
        ...unmadeForeignKeys([model], dialect),
      ]
      return { problems, sql: { table: { schema: one.schema, name: one.name }, up, down } }
    })
    return {
      table: name,
      sqlFor: (dialect) => {
        const { problems, sql } = made(dialect)
        if (problems.length > 0) throw new DeclarationError('entities', problems)
        return sql
      },
      notes: [...search, ...elsewhere, ...outer, ...keys, ...ofSeveral],
    }
  })
}

interface NamedTable {
  readonly model: ResourceModel
  readonly table: TableName
  /** The table on MySQL. */
  readonly twin: TableName
}

const namedTable = (model: ResourceModel, naming: Naming): NamedTable => {
  const { postgres, mysql } = MIGRATED_DIALECTS
  return { model, table: tableNameOf(model, postgres, naming), twin: tableNameOf(model, mysql, naming) }
}

/** Returns the problems of table and index names in migrations that create the tables of resources. */
export const tableNameProblems = (models: readonly ResourceModel[], naming: Naming): readonly Problem[] =>
  tableNames(models.filter(({ existing }) => !existing).map((model) => namedTable(model, naming))).problems

function tableNames(tables: readonly NamedTable[]) {
  const doubled = repeated(tables.map(({ table }) => tableText(table)))
  const doubledTwins = repeated(tables.map(({ twin }) => tableText(twin)))
  const onBoth = tables
    .filter(({ table, twin }) => doubled.has(tableText(table)) && doubledTwins.has(tableText(twin)))
    .map(({ table }) => tableText(table))
  const problems = [
    ...[...new Set(onBoth)].map((name) => problem('table', `two resources have the table ${name}`)),
    ...sharedIndexNames(
      tables
        .filter(({ table }) => !doubled.has(tableText(table)))
        .map(({ model, table }) => tableOf(model, MIGRATED_DIALECTS.postgres, table)),
    ),
  ]
  return { problems, doubled, doubledTwins }
}

/** Reports two resources whose tables differ only by the entity's database, which PostgreSQL ignores. */
const ofOneName = (table: TableName) =>
  problem(
    'table',
    `two resources have the table ${tableText(table)} on PostgreSQL, which ignores an entity's database`,
    'also write @Entity({ schema }), or use another name',
  )

/** Returns the resources of other modules to which these are related, directly or indirectly. */
function targetsOutside(models: readonly ResourceModel[]): readonly ResourceModel[] {
  const found = new Set(models)
  for (const model of found)
    for (const relation of model.relations) found.add(resourceModel<object>(relation.target()))
  return [...found].filter((model) => !models.includes(model))
}

const repeated = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.filter((name, index) => names.indexOf(name) !== index))

/** A table, and the foreign keys that other tables get after it is created. */
interface LinkedTable {
  readonly table: TableDefinition
  /** The foreign keys of earlier tables to the new table. */
  readonly added: readonly AddedForeignKey[]
}

/**
 * Returns a table with its foreign keys. If tables refer to each other in a cycle, the last table of the
 * cycle adds the foreign keys that earlier tables could not have.
 */
function linkedTable(
  model: ResourceModel,
  graph: RelationGraph<ResourceModel>,
  dialect: Dialect,
  naming: Naming,
): LinkedTable {
  const links = referencesOf(graph.order, dialect, naming)
  const definition = (of: ResourceModel) => tableOf(of, dialect, tableNameOf(of, dialect, naming), links(of))
  const at = graph.order.indexOf(model)
  const keysTo = (of: ResourceModel, isTaken: (target: number) => boolean) => {
    const edges = graph.parents(of)
    return definition(of).foreignKeys.filter((_, i) =>
      isTaken(graph.order.indexOf((edges[i] as (typeof edges)[number]).parent)),
    )
  }
  return {
    table: { ...definition(model), foreignKeys: keysTo(model, (target) => target <= at) },
    added: graph.order
      .slice(0, at)
      .flatMap((earlier) =>
        keysTo(earlier, (target) => target === at).map((key) => ({ table: definition(earlier), key })),
      ),
  }
}
