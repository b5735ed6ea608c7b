import type { DataSource } from 'typeorm'
import { resourceModel, type EntityClass } from '../resource/resource-model.js'
import type { Dialect } from './executor.js'
import { quoteIdentifier } from './query/identifier.js'
import { columnText, createTable, tableOf, type TableDefinition } from './schema.js'

/**
 * Creates the tables of resources, with every index that isolation and order need, where they are missing. On SQLite a
 * column that a table lacks is added. For development and tests: production schemas change by migrations.
 */
export async function createTables(
  dataSource: Pick<DataSource, 'query'>,
  entities: readonly EntityClass<object>[],
  dialect: Dialect,
): Promise<void> {
  for (const entity of entities) {
    const table = tableOf(resourceModel(entity), dialect)
    const [create = '', ...indexes] = createTable(table, dialect)
    await dataSource.query(create)
    if (dialect === 'sqlite') await addMissingColumns(dataSource, table)
    for (const index of indexes) await dataSource.query(index)
  }
}

async function addMissingColumns(
  dataSource: Pick<DataSource, 'query'>,
  table: TableDefinition,
): Promise<void> {
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
