import type { DataSource } from 'typeorm'
import { DeclarationError } from '../../errors.js'
import type { EntityClass, ResourceModel } from '../../resource/resource-model.js'
import type { Dialect, DialectName } from '../dialects/dialect.js'
import { locateTable } from '../dialects/catalog/locate-table.js'
import { dialectNamed } from '../dialects/dialect-named.js'
import type { TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { addForeignKey, createIndex, createTable } from './create-table.js'
import { referencesOf, tenantTargets, unmadeForeignKeys } from './foreign-keys.js'
import { identifyingColumns } from './identifying-columns.js'
import { modelsOf } from './resources-in.js'
import { type Naming, tableNameOf } from './table-name-of.js'
import { refusedKeys, sharedIndexNames } from './index-problems.js'
import { tableOf, tenantKeyIndex } from './table-of.js'

/** @inline */
type Queries = Pick<DataSource, 'query'>

/**
 * Creates the tables of resources that no schema of the search path contains, with their indexes and foreign
 * keys, and missing schemas (databases on MySQL). On SQLite it also adds missing columns and recreates
 * changed indexes, but does not add foreign keys to existing tables. An existing table with `existing: true`
 * is not changed. Intended for development and tests; use migrations in production.
 *
 * @param dataSource - determines, with the entities, the names and schemas of tables.
 */
export async function createTables(
  dataSource: Queries & Naming,
  entities: readonly EntityClass<object>[],
  name: DialectName,
): Promise<void> {
  const dialect = dialectNamed(name)
  const query = async (text: string, values: readonly unknown[]) => {
    const rows: unknown = await dataSource.query(text, [...values])
    return Array.isArray(rows) ? rows.map((row: object) => Object.values(row) as unknown[]) : []
  }
  const models = modelsOf(entities)
  const links = referencesOf(models, dialect, dataSource)
  const tables = models.map((model) =>
    tableOf(model, dialect, tableNameOf(model, dialect, dataSource), links(model)),
  )
  const problems = [
    ...unmadeForeignKeys(models, dialect),
    ...tables.flatMap((table) => refusedKeys(table, dialect)),
    ...sharedIndexNames(tables),
  ]
  if (problems.length > 0) throw new DeclarationError('entities', problems)
  const isThere = async (model: ResourceModel, table: TableName) =>
    (await dialect.catalog.inexactColumns(query, table, identifyingColumns(model, dialect))) !== undefined
  for (const [at, table] of tables.entries()) {
    const model = models[at] as ResourceModel
    // The table belongs to another application.
    if (model.existing && (await isThere(model, table))) continue
    // IF NOT EXISTS only checks one schema, but statements find tables in the whole search path.
    const [create = '', ...indexes] = createTable(await locateTable(query, table, dialect), dialect)
    if (table.schema !== undefined) await createSchema(dataSource, table.schema, dialect)
    await dataSource.query(create)
    await dialect.ddl.updateTable?.(query, table, indexes)
    for (const index of indexes) await dataSource.query(index)
  }
  for (const target of new Set(models.flatMap((model) => [...tenantTargets(model)]))) {
    if (models.includes(target)) continue
    const place = tableNameOf(target, dialect, dataSource)
    const how = dialect.can.indexIfMissing ? 'IF NOT EXISTS ' : ''
    await dataSource.query(createIndex(place, tenantKeyIndex(target, place.name), dialect, how))
  }
  for (const table of tables) await addForeignKeys(dataSource, table, dialect)
}

/** Adds foreign keys after all tables exist, because tables may refer to each other in a cycle. */
async function addForeignKeys(dataSource: Queries, table: TableDefinition, dialect: Dialect): Promise<void> {
  if (table.foreignKeys.length === 0 || dialect.catalog.foreignKeys === undefined) return
  const { text, values } = dialect.catalog.foreignKeys.find(table)
  const found = (await dataSource.query(text, [...values])) as readonly { readonly name: string }[]
  const names = new Set(found.map(({ name }) => name))
  for (const key of table.foreignKeys)
    if (!names.has(key.name)) await dataSource.query(addForeignKey(table, key, dialect))
}

/**
 * Creates a schema unless it exists. It is looked up first, because even CREATE IF NOT EXISTS requires a
 * privilege that users who create tables may lack.
 */
async function createSchema(dataSource: Queries, schema: string, dialect: Dialect): Promise<void> {
  const {
    catalog: { namespace },
    text: { quote },
  } = dialect
  if (namespace === undefined) return
  const found = (await dataSource.query(namespace.find, [schema])) as unknown[]
  if (found.length === 0) await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`)
}
