import type { IndexDefinition, TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { columnText } from '../dialects/column-text.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'

/** The statements that create a table, one DDL statement each; they do nothing when it exists. */
export function createTable(table: TableDefinition, dialect: Dialect): string[] {
  const ifMissing = dialect.can.indexIfMissing ? 'IF NOT EXISTS ' : ''
  const columns = table.columns.map((column) => columnText(column, dialect))
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteTable(table, dialect)} ${body(table, columns, [], dialect)}${dialect.tableOptions}`,
    ...table.indexes.map((index) => createIndex(table, index, dialect, ifMissing)),
  ]
}

/**
 * The statements of a migration that creates a missing table. One statement when DDL cannot be rolled back. They mean
 * the same on every server of the dialect.
 */
export function createNewTable(table: TableDefinition, dialect: Dialect): string[] {
  const { can, tableOptions, tableCollation } = dialect
  const collation = tableCollation === '' ? dialect.collation : ''
  const columns = table.columns.map((column) => columnText(column, dialect, collation))
  const keys = can.transactionalDdl ? [] : table.indexes.map((index) => keyText(index, dialect))
  const indexes = can.transactionalDdl ? table.indexes.map((index) => createIndex(table, index, dialect)) : []
  const create = `CREATE TABLE ${quoteTable(table, dialect)} ${body(table, columns, keys, dialect)}`
  return [`${create}${tableOptions}${tableCollation}`, ...indexes]
}

const keyText = ({ name, columns, unique }: IndexDefinition, dialect: Dialect): string =>
  `${unique ? 'UNIQUE ' : ''}KEY ${dialect.quote(name)} (${namesText(columns, dialect)})`

function body(
  { primaryKey }: TableDefinition,
  columns: readonly string[],
  keys: readonly string[],
  dialect: Dialect,
): string {
  const lines = [...columns, `PRIMARY KEY (${namesText(primaryKey, dialect)})`, ...keys]
  return `(\n${lines.map((line) => `  ${line}`).join(',\n')}\n)`
}

const namesText = (names: readonly string[], dialect: Dialect): string =>
  names.map((name) => dialect.quote(name)).join(', ')

/** @param how - the text before the name: `IF NOT EXISTS `, or `CONCURRENTLY `. */
export function createIndex(table: TableName, index: IndexDefinition, dialect: Dialect, how = ''): string {
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`
  return `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${how}${dialect.quote(index.name)} ON ${quoteTable(table, dialect)} (${namesText(index.columns, dialect)})${where}`
}
