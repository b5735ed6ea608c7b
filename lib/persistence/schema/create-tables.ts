import type { DataSource } from 'typeorm'
import { resourceModel, type EntityClass } from '../../resource/resource-model.js'
import type { Dialect, DialectName } from '../dialects/dialect.js'
import { dialectNamed } from '../dialects/dialect-named.js'
import { createTable } from './create-table.js'
import { type Naming, tableNameOf } from './table-name-of.js'
import { tableOf } from './table-of.js'

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
  name: DialectName,
): Promise<void> {
  const dialect = dialectNamed(name)
  const query = async (text: string, values: readonly unknown[]) => {
    const rows: unknown = await dataSource.query(text, [...values])
    return Array.isArray(rows) ? rows.map((row: object) => Object.values(row) as unknown[]) : []
  }
  for (const entity of entities) {
    const model = resourceModel(entity)
    const table = tableOf(model, dialect, tableNameOf(model, dialect, dataSource))
    const [create = '', ...indexes] = createTable(table, dialect)
    if (table.schema !== undefined) await createSchema(dataSource, table.schema, dialect)
    await dataSource.query(create)
    await dialect.addMissingColumns?.(query, table)
    for (const index of indexes) await dataSource.query(index)
  }
}

/** Asks first: to create one that is there takes a right that somebody who may create tables need not have. */
async function createSchema(dataSource: Queries, schema: string, dialect: Dialect): Promise<void> {
  const { namespace, quote } = dialect
  if (namespace === undefined) return
  const found = (await dataSource.query(namespace.find, [schema])) as unknown[]
  if (found.length === 0) await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`)
}
