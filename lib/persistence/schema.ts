import { createHash } from 'node:crypto'
import type { Field, FieldKind } from '../resource/field.js'
import type { ResourceModel } from '../resource/resource-model.js'
import type { Dialect } from './executor.js'
import { quoteIdentifier as quote } from './query/identifier.js'

/** MySQL has no partial index: this column is `''` while a row lives and its key once it is deleted. */
export const SOFT_DELETE_KEY = 'soft_delete_key'

/** One column as its dialect declares it. */
export interface ColumnDefinition {
  readonly name: string
  readonly type: string
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
export interface TableDefinition {
  readonly name: string
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

function typeOf(field: Field, dialect: Dialect): string {
  if (field.kind === 'string' || field.kind === 'enum') {
    const length = field.kind === 'enum' ? ENUM_LENGTH : field.maxLength
    const bare =
      dialect === 'sqlite'
        ? 'TEXT'
        : length !== undefined
          ? `varchar(${length})`
          : dialect === 'postgres'
            ? 'text'
            : 'longtext'
    return `${bare} ${COLLATION[dialect]}`
  }
  return (dialect === 'postgres' ? POSTGRES : dialect === 'sqlite' ? SQLITE : MYSQL)[field.kind]
}

/** The type of an array of the field's values on PostgreSQL. */
export const arrayTypeOf = (field: Field): string =>
  `${field.kind === 'string' || field.kind === 'enum' ? 'text' : POSTGRES[field.kind]}[]`

/** The table of a resource in one dialect. */
export function tableOf(model: ResourceModel, dialect: Dialect): TableDefinition {
  const hasDiscriminator = isMysql(dialect) && model.deleteTime !== undefined && uniquesOf(model).length > 0
  const columns: ColumnDefinition[] = model.fields.map((field) => ({
    name: field.column,
    type: typeOf(field, dialect),
    nullable: field.nullable,
    fallback: undefined,
  }))
  if (hasDiscriminator)
    columns.push({
      name: SOFT_DELETE_KEY,
      type: `varchar(${model.key.maxLength ?? 255}) ${COLLATION[dialect]}`,
      nullable: false,
      fallback: `''`,
    })
  const scope = model.tenant === undefined ? [] : [model.tenant.column]
  return {
    name: model.table,
    columns,
    primaryKey: model.tenantInKey ? [...scope, model.key.column] : [model.key.column],
    indexes: [...uniqueIndexes(model, dialect, scope), ...lookupIndexes(model, scope)],
  }
}

const isMysql = (dialect: Dialect): boolean => dialect === 'mysql' || dialect === 'mariadb'

/** Groups that are unique among live rows; public ids aside, which are unique among all. */
const uniquesOf = (model: ResourceModel): readonly (readonly Field[])[] =>
  model.uniques.filter((fields) => fields.length > 0)

function uniqueIndexes(model: ResourceModel, dialect: Dialect, scope: readonly string[]): IndexDefinition[] {
  const live =
    model.deleteTime === undefined ? undefined : `${quote(model.deleteTime.column, dialect)} IS NULL`
  const declared = uniquesOf(model).map((fields) => {
    const own = fields.map((field) => field.column).filter((column) => !scope.includes(column))
    const columns = [...scope, ...own, ...(isMysql(dialect) && live !== undefined ? [SOFT_DELETE_KEY] : [])]
    return {
      name: indexName(model.table, [...scope, ...own], 'key'),
      columns,
      unique: true,
      where: isMysql(dialect) ? undefined : live,
    }
  })
  const publicIds = model.credentials.map(({ publicId }) => ({
    name: indexName(model.table, [publicId.column], 'key'),
    columns: [publicId.column],
    unique: true,
    where: undefined,
  }))
  return [...declared, ...publicIds]
}

function lookupIndexes(model: ResourceModel, scope: readonly string[]): IndexDefinition[] {
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
    name: indexName(model.table, columns, 'idx'),
    columns,
    unique: false,
    where: undefined,
  }))
}

const MAX_NAME = 63

/** Readable while it fits, then cut and told apart by a digest. */
function indexName(table: string, columns: readonly string[], suffix: string): string {
  const name = [table, ...columns, suffix].join('_')
  if (name.length <= MAX_NAME) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, MAX_NAME - digest.length - suffix.length - 2)}_${digest}_${suffix}`
}

/** The statements that create a table, one DDL statement each; they answer nothing when it exists already. */
export function createTable(table: TableDefinition, dialect: Dialect): string[] {
  const q = (name: string) => quote(name, dialect)
  const columns = table.columns.map((column) => `  ${columnText(column, dialect)}`)
  const primaryKey = `  PRIMARY KEY (${table.primaryKey.map(q).join(', ')})`
  const suffix = isMysql(dialect) ? ' ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4' : ''
  return [
    `CREATE TABLE IF NOT EXISTS ${q(table.name)} (\n${[...columns, primaryKey].join(',\n')}\n)${suffix}`,
    ...table.indexes.map((index) => createIndex(table.name, index, dialect)),
  ]
}

/** A column as CREATE TABLE and ADD COLUMN write it. */
export function columnText(column: ColumnDefinition, dialect: Dialect): string {
  const fallback = column.fallback === undefined ? '' : ` DEFAULT ${column.fallback}`
  return `${quote(column.name, dialect)} ${column.type}${column.nullable ? '' : ' NOT NULL'}${fallback}`
}

function createIndex(table: string, index: IndexDefinition, dialect: Dialect): string {
  const q = (name: string) => quote(name, dialect)
  const ifMissing = dialect === 'mysql' ? '' : 'IF NOT EXISTS '
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`
  return `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${ifMissing}${q(index.name)} ON ${q(table)} (${index.columns.map(q).join(', ')})${where}`
}
