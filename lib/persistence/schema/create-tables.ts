import type { DataSource } from 'typeorm'
import { resourceModel, type EntityClass } from '../../resource/resource-model.js'
import type { Dialect, DialectName } from '../dialects/dialect.js'
import { dialectNamed } from '../dialects/dialect-named.js'
import { createTable } from './create-table.js'
import { type Naming, tableNameOf } from './table-name-of.js'
import { tableOf } from './table-of.js'

type Queries = Pick<DataSource, 'query'>

/**
 * Creates the missing tables of resources, with every index that isolation and order need, and their schemas (MySQL:
 * databases). On SQLite it also adds missing columns. For development and tests: production schemas change by
 * migrations.
 * @param dataSource - determines, with the entities, the names of tables and where they are.
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

/** Queries first: creating an existing one needs a right that a user who can create tables may lack. */
async function createSchema(dataSource: Queries, schema: string, dialect: Dialect): Promise<void> {
  const { namespace, quote } = dialect
  if (namespace === undefined) return
  const found = (await dataSource.query(namespace.find, [schema])) as unknown[]
  if (found.length === 0) await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`)
}
