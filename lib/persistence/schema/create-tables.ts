import type { DataSource } from 'typeorm'
import { resourceModel, type EntityClass } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteIdentifier } from '../dialects/identifier.js'
import { columnText, createTable, tableOf, type TableDefinition } from './table-definition.js'
import { type Naming, tableNameOf } from './table-name.js'

type Queries = Pick<DataSource, 'query'>

/**
 * Creates the tables of resources, with every index that isolation and order need, where they are missing; their schemas as
 * well (MySQL: databases). On SQLite a column that a table lacks is added. For development and tests: production schemas
 * change by migrations.
 * @param dataSource - says, beside the entities, what the tables are called and where they are.
 */
export async function createTables(
  dataSource: Queries & Naming,
  entities: readonly EntityClass<object>[],
  dialect: Dialect,
): Promise<void> {
  for (const entity of entities) {
    const model = resourceModel(entity)
    const table = tableOf(model, dialect, tableNameOf(model, dialect, dataSource))
    const [create = '', ...indexes] = createTable(table, dialect)
    if (table.schema !== undefined) await createSchema(dataSource, table.schema, dialect)
    await dataSource.query(create)
    if (dialect === 'sqlite') await addMissingColumns(dataSource, table)
    for (const index of indexes) await dataSource.query(index)
  }
}

/** Asks first: to create one that is there takes a right that somebody who may create tables need not have. */
async function createSchema(dataSource: Queries, schema: string, dialect: Dialect): Promise<void> {
  const found = (await dataSource.query(
    dialect === 'postgres'
      ? 'SELECT 1 AS found FROM pg_namespace WHERE nspname = $1'
      : 'SELECT 1 AS found FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?',
    [schema],
  )) as unknown[]
  if (found.length === 0)
    await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema, dialect)}`)
}

async function addMissingColumns(dataSource: Queries, table: TableDefinition): Promise<void> {
  const rows: { name: string }[] = await dataSource.query('SELECT name FROM pragma_table_info(?)', [
    table.name,
  ])
  const present = new Set(rows.map(({ name }) => name))
  for (const column of table.columns) {
    if (present.has(column.name)) continue
    // A table with rows can only be given a NOT NULL column together with a value for them.
    const filled = column.nullable
      ? column
      : { ...column, fallback: column.fallback ?? zeroText(column.type) }
    await dataSource.query(
      `ALTER TABLE ${quoteIdentifier(table.name, 'sqlite')} ADD COLUMN ${columnText(filled, 'sqlite')}`,
    )
  }
}

const zeroText = (type: string): string => (type.startsWith('TEXT') ? "''" : type === 'BLOB' ? "x''" : '0')
