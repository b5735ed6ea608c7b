import type {
  ExclusiveColumns,
  ForeignKeyDefinition,
  IndexDefinition,
  TableDefinition,
  TableName,
} from '../dialects/catalog/table-definition.js'
import { columnText } from '../dialects/column-text.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'

/**
 * Returns the statements that create a table unless it exists, one DDL statement each. They include foreign
 * keys only if these cannot be added later.
 */
export function createTable(table: TableDefinition, dialect: Dialect): string[] {
  const ifMissing = dialect.can.indexIfMissing ? 'IF NOT EXISTS ' : ''
  const columns = table.columns.map((column) => columnText(column, dialect))
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteTable(table, dialect)} ${body(table, columns, dialect.catalog.foreignKeys === undefined ? keysOf(table, dialect) : [], dialect)}${dialect.ddl.tableOptions}`,
    ...table.indexes.map((index) => createIndex(table, index, dialect, ifMissing)),
  ]
}

/**
 * Returns the statements of a migration that creates a table. It is one statement if DDL cannot be rolled
 * back. The statements have the same effect on every server of the dialect.
 */
export function createNewTable(table: TableDefinition, dialect: Dialect): string[] {
  const {
    can,
    ddl: { tableOptions, tableCollation },
  } = dialect
  const collation = tableCollation === '' ? dialect.text.collation : ''
  const columns = table.columns.map((column) => columnText(column, dialect, collation))
  const keys = can.transactionalDdl ? [] : table.indexes.map((index) => keyText(index, dialect))
  const indexes = can.transactionalDdl ? table.indexes.map((index) => createIndex(table, index, dialect)) : []
  // A foreign key to an index of the same table requires the index, which is created by a separate statement.
  const needsIndex = (key: ForeignKeyDefinition): boolean =>
    can.transactionalDdl &&
    quoteTable(key.target, dialect) === quoteTable(table, dialect) &&
    key.targetColumns.join() !== table.primaryKey.join()
  const links = table.foreignKeys.filter((key) => !needsIndex(key)).map((key) => foreignKeyText(key, dialect))
  const later = table.foreignKeys.filter(needsIndex).map((key) => addForeignKey(table, key, dialect))
  const create = `CREATE TABLE ${quoteTable(table, dialect)} ${body(table, columns, [...keys, ...links], dialect)}`
  return [`${create}${tableOptions}${tableCollation}`, ...indexes, ...later]
}

const keysOf = ({ foreignKeys }: TableDefinition, dialect: Dialect): readonly string[] =>
  foreignKeys.map((key) => foreignKeyText(key, dialect))

/**
 * Returns a foreign key's definition. No engine may change or remove rows by itself, because Ashlar handles
 * deletes.
 */
const foreignKeyText = (
  { name, columns, target, targetColumns }: ForeignKeyDefinition,
  dialect: Dialect,
): string =>
  `CONSTRAINT ${dialect.text.quote(name)} FOREIGN KEY (${namesText(columns, dialect)}) REFERENCES ${quoteTable(target, dialect)} (${namesText(targetColumns, dialect)}) ON DELETE NO ACTION`

export const addForeignKey = (table: TableName, key: ForeignKeyDefinition, dialect: Dialect): string =>
  `ALTER TABLE ${quoteTable(table, dialect)} ADD ${foreignKeyText(key, dialect)}`

export const dropConstraint = (
  table: TableName,
  { name }: Pick<ForeignKeyDefinition, 'name'>,
  dialect: Dialect,
): string => `ALTER TABLE ${quoteTable(table, dialect)} DROP CONSTRAINT ${dialect.text.quote(name)}`

const keyText = (index: IndexDefinition, dialect: Dialect): string =>
  `${indexWord(index, dialect)}KEY ${dialect.text.quote(index.name)} (${namesText(index.columns, dialect)})${parserText(index)}`

const indexWord = ({ unique, method }: IndexDefinition, { ddl }: Dialect): string =>
  method !== undefined && ddl.indexMethods.isFirst ? `${method} ` : unique ? 'UNIQUE ' : ''

const parserText = ({ parser }: IndexDefinition): string =>
  parser === undefined ? '' : ` WITH PARSER ${parser}`

function body(
  { primaryKey, columns: defined, exclusive = [] }: TableDefinition,
  columns: readonly string[],
  keys: readonly string[],
  dialect: Dialect,
): string {
  const isSaid = dialect.ddl.identity.isPrimaryKey && defined.some(({ isIdentity }) => isIdentity === true)
  const primary = isSaid ? [] : [`PRIMARY KEY (${namesText(primaryKey, dialect)})`]
  const checks = exclusive.map((one) => checkText(one, dialect))
  const lines = [...columns, ...primary, ...keys, ...checks]
  return `(\n${lines.map((line) => `  ${line}`).join(',\n')}\n)`
}

/** Returns a CHECK constraint that works on every engine. There is no common function for it. */
const checkText = ({ name, columns }: ExclusiveColumns, { text: { quote } }: Dialect): string =>
  `CONSTRAINT ${quote(name)} CHECK (${columns.map((column) => `CASE WHEN ${quote(column)} IS NULL THEN 0 ELSE 1 END`).join(' + ')} <= 1)`

export const addCheck = (table: TableName, check: ExclusiveColumns, dialect: Dialect): string =>
  `ALTER TABLE ${quoteTable(table, dialect)} ADD ${checkText(check, dialect)}`

const namesText = (names: readonly string[], dialect: Dialect): string =>
  names.map((name) => dialect.text.quote(name)).join(', ')

/**
 * Returns the statement that creates an index.
 *
 * @param how - the words before the name, such as `IF NOT EXISTS ` or `CONCURRENTLY `.
 */
export function createIndex(table: TableName, index: IndexDefinition, dialect: Dialect, how = ''): string {
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`
  const isLater = index.method !== undefined && !dialect.ddl.indexMethods.isFirst
  const using = isLater ? `USING ${index.method} ` : ''
  return `CREATE ${indexWord(index, dialect)}INDEX ${how}${dialect.text.quote(index.name)} ON ${quoteTable(table, dialect)} ${using}(${namesText(index.columns, dialect)})${where}${parserText(index)}`
}
