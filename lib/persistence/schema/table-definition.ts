import { createHash } from 'node:crypto'
import type { Field, FieldKind } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteIdentifier as quote } from '../dialects/identifier.js'
import { quoteTable, tableNameOf, type TableName } from './table-name.js'

/** MySQL has no partial index: this column is `''` while a row lives and its key once it is deleted. */
export const SOFT_DELETE_KEY = 'soft_delete_key'

/** One column as its dialect declares it. */
export interface ColumnDefinition {
  readonly name: string
  /** Without its collation. */
  readonly type: string
  /** Whether it holds text, which is ordered and compared by code point. */
  readonly isText: boolean
  readonly nullable: boolean
  readonly fallback: string | undefined
}

export interface IndexDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  /** Condition of a partial index, on dialects that have them. */
  readonly where: string | undefined
}

/** A table as isolation, uniqueness and order need it. */
export interface TableDefinition extends TableName {
  readonly columns: readonly ColumnDefinition[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly IndexDefinition[]
}

type Types = Readonly<Record<Exclude<FieldKind, 'string' | 'enum'>, string>>

const POSTGRES: Types = {
  bytes: 'bytea',
  bool: 'boolean',
  int32: 'integer',
  uint32: 'bigint',
  int64: 'bigint',
  uint64: 'numeric(20)',
  float: 'real',
  double: 'double precision',
  timestamp: 'timestamptz',
  duration: 'bigint',
  json: 'jsonb',
  tags: 'jsonb',
}
const MYSQL: Types = {
  bytes: 'longblob',
  bool: 'tinyint(1)',
  int32: 'int',
  uint32: 'int unsigned',
  int64: 'bigint',
  uint64: 'bigint unsigned',
  float: 'float',
  double: 'double',
  timestamp: 'datetime(6)',
  duration: 'bigint',
  json: 'json',
  tags: 'json',
}
const SQLITE: Types = {
  bytes: 'BLOB',
  bool: 'INTEGER',
  int32: 'INTEGER',
  uint32: 'INTEGER',
  int64: 'INTEGER',
  uint64: 'INTEGER',
  float: 'REAL',
  double: 'REAL',
  timestamp: 'TEXT',
  duration: 'INTEGER',
  json: 'TEXT',
  tags: 'TEXT',
}

/** Order and equality by code point, trailing spaces counting, on every dialect. */
const COLLATION: Readonly<Record<Dialect, string>> = {
  postgres: 'COLLATE "C"',
  mariadb: 'CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin',
  mysql: 'CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin',
  sqlite: 'COLLATE BINARY',
}
const ENUM_LENGTH = 255

const isText = (kind: FieldKind): kind is 'string' | 'enum' => kind === 'string' || kind === 'enum'

function typeOf(field: Field, dialect: Dialect): string {
  if (isText(field.kind)) {
    const length = field.maxLength ?? (field.kind === 'enum' ? ENUM_LENGTH : undefined)
    if (dialect === 'sqlite') return 'TEXT'
    if (length !== undefined) return `varchar(${length})`
    return dialect === 'postgres' ? 'text' : 'longtext'
  }
  return (dialect === 'postgres' ? POSTGRES : dialect === 'sqlite' ? SQLITE : MYSQL)[field.kind]
}

/** The type of an array of the field's values on PostgreSQL. */
export const arrayTypeOf = (field: Field): string => `${isText(field.kind) ? 'text' : POSTGRES[field.kind]}[]`

/** The table of a resource in one dialect. */
export function tableOf(
  model: ResourceModel,
  dialect: Dialect,
  table: TableName = tableNameOf(model, dialect),
): TableDefinition {
  const hasDiscriminator = isMysql(dialect) && model.deleteTime !== undefined && uniquesOf(model).length > 0
  const columns: ColumnDefinition[] = model.fields.map((field) => ({
    name: field.column,
    type: typeOf(field, dialect),
    isText: isText(field.kind),
    nullable: field.nullable,
    fallback: undefined,
  }))
  if (hasDiscriminator)
    columns.push({
      name: SOFT_DELETE_KEY,
      type: `varchar(${model.key.maxLength ?? 255})`,
      isText: true,
      nullable: false,
      fallback: `''`,
    })
  const scope = model.tenant === undefined ? [] : [model.tenant.column]
  return {
    ...table,
    columns,
    primaryKey: model.tenantInKey ? [...scope, model.key.column] : [model.key.column],
    indexes: [
      ...uniqueIndexes(model, dialect, scope, table.name),
      ...lookupIndexes(model, scope, table.name),
    ],
  }
}

const isMysql = (dialect: Dialect): boolean => dialect === 'mysql' || dialect === 'mariadb'

/** Groups that are unique among live rows; public ids aside, which are unique among all. */
const uniquesOf = (model: ResourceModel): readonly (readonly Field[])[] =>
  model.uniques.filter((fields) => fields.length > 0)

function uniqueIndexes(
  model: ResourceModel,
  dialect: Dialect,
  scope: readonly string[],
  table: string,
): IndexDefinition[] {
  const live =
    model.deleteTime === undefined ? undefined : `${quote(model.deleteTime.column, dialect)} IS NULL`
  const declared = uniquesOf(model).map((fields) => {
    const own = fields.map((field) => field.column).filter((column) => !scope.includes(column))
    const columns = [...scope, ...own, ...(isMysql(dialect) && live !== undefined ? [SOFT_DELETE_KEY] : [])]
    return {
      name: indexName(table, [...scope, ...own], 'key'),
      columns,
      unique: true,
      where: isMysql(dialect) ? undefined : live,
    }
  })
  const publicIds = model.credentials.map(({ publicId }) => ({
    name: indexName(table, [publicId.column], 'key'),
    columns: [publicId.column],
    unique: true,
    where: undefined,
  }))
  return [...declared, ...publicIds]
}

function lookupIndexes(model: ResourceModel, scope: readonly string[], table: string): IndexDefinition[] {
  const lookups: string[][] = []
  if (!model.tenantInKey && scope.length > 0) lookups.push([...scope, model.key.column])
  for (const time of [model.createTime, model.updateTime])
    if (time?.filterable) lookups.push([...scope, time.column, model.key.column])
  for (const { hash } of model.secrets)
    if (hash.maxLength !== undefined) lookups.push([...scope, hash.column])
  if (model.expireTime !== undefined) lookups.push([model.expireTime.column])
  for (const fields of model.indexes)
    if (fields.length > 0)
      lookups.push([
        ...scope,
        ...fields.map((field) => field.column).filter((column) => !scope.includes(column)),
      ])
  return lookups.map((columns) => ({
    name: indexName(table, columns, 'idx'),
    columns,
    unique: false,
    where: undefined,
  }))
}

/** Bytes: PostgreSQL cuts a longer name. */
const MAX_NAME = 63

/** Readable while it fits, then cut and told apart by a digest. */
function indexName(table: string, columns: readonly string[], suffix: string): string {
  const name = [table, ...columns, suffix].join('_')
  if (Buffer.byteLength(name) <= MAX_NAME) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const characters = [...name]
  const room = MAX_NAME - digest.length - suffix.length - 2
  while (Buffer.byteLength(characters.join('')) > room) characters.pop()
  return `${characters.join('')}_${digest}_${suffix}`
}

/** The statements that create a table, one DDL statement each; they answer nothing when it exists already. */
export function createTable(table: TableDefinition, dialect: Dialect): string[] {
  const ifMissing = dialect === 'mysql' ? '' : 'IF NOT EXISTS '
  const columns = table.columns.map((column) => columnText(column, dialect))
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteTable(table, dialect)} ${body(table, columns, [], dialect)}${tableOptions(dialect)}`,
    ...table.indexes.map((index) => createIndex(table, index, dialect, ifMissing)),
  ]
}

/**
 * The statements of a migration that creates a table which is not there. On MySQL it is one statement, because each one
 * commits by itself there, and it means the same to MySQL 8 and to MariaDB, whose collations have other names.
 */
export function createNewTable(table: TableDefinition, dialect: 'postgres' | 'mysql'): string[] {
  const create = `CREATE TABLE ${quoteTable(table, dialect)} `
  if (dialect === 'postgres')
    return [
      create +
        body(
          table,
          table.columns.map((column) => columnText(column, dialect)),
          [],
          dialect,
        ),
      ...table.indexes.map((index) => createIndex(table, index, dialect)),
    ]
  const columns = table.columns.map((column) => columnText(column, dialect, ''))
  const keys = table.indexes.map(
    ({ name, columns: of, unique }) =>
      `${unique ? 'UNIQUE ' : ''}KEY ${quote(name, dialect)} (${namesText(of, dialect)})`,
  )
  return [`${create}${body(table, columns, keys, dialect)}${tableOptions(dialect)} ${EITHER_COLLATION}`]
}

/** MariaDB reads the first comment, MySQL 8 the second. */
const EITHER_COLLATION = 'COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */'

const tableOptions = (dialect: Dialect): string =>
  isMysql(dialect) ? ' ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4' : ''

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
  names.map((name) => quote(name, dialect)).join(', ')

/**
 * A column as CREATE TABLE and ADD COLUMN write it.
 * @param collation - of text; the empty string where the table's own is the right one.
 */
export function columnText(
  column: ColumnDefinition,
  dialect: Dialect,
  collation: string = COLLATION[dialect],
): string {
  const collated = column.isText && collation !== '' ? ` ${collation}` : ''
  const fallback = column.fallback === undefined ? '' : ` DEFAULT ${column.fallback}`
  return `${quote(column.name, dialect)} ${column.type}${collated}${column.nullable ? '' : ' NOT NULL'}${fallback}`
}

/** @param how - what stands before the name: `IF NOT EXISTS `, or `CONCURRENTLY `. */
export function createIndex(table: TableName, index: IndexDefinition, dialect: Dialect, how = ''): string {
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`
  return `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${how}${quote(index.name, dialect)} ON ${quoteTable(table, dialect)} (${namesText(index.columns, dialect)})${where}`
}
