export { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../errors.js'
export type { Column, Columns, Field, FieldKind } from '../resource/field.js'
export { type EntityClass, type ResourceModel, resourceModel } from '../resource/resource-model.js'
export { constraintError } from './constraint-error.js'
export type { Verification } from './credential-check.js'
export { type DsnLogin, redactDsn, type ResolvedDsn, resolveDsn } from './dsn.js'
export { HotDataSource, type HotEvents, type HotOptions, type ReloadLogger } from './hot-data-source.js'
export type { PasswordCallback } from './hot-driver.js'
export { MemoryDatabase } from './memory-database.js'
export { type MemoryOptions, MemoryRepository } from './memory-repository.js'
export type { CatalogRow, LiveSchema } from './catalog/live-table.js'
export { columnsOf, jsonColumnsOf } from './query/columns-of.js'
export { filterPredicate, parseFilter, parseOrderBy, type Where } from './query/columns.js'
export type { Direction, OrderTerm } from './query/order-by.js'
export type {
  BatchUpdateItem,
  ListOptions,
  OperationOptions,
  Page,
  Repository,
  TransactionOptions,
  UpdateOptions,
  WriteOptions,
} from './repository.js'
export { createTables } from './create-tables.js'
export {
  type CredentialOps,
  type MaskOf,
  memoryRepositoryOf,
  repositoryOf,
  type SecretLookups,
  type BatchUpdateItemOf,
  type TypedBatchUpdate,
  type TypedUpdate,
} from './repository-of.js'
export { type SchemaComparison, schemaComparison } from './schema-comparison.js'
export { type SearchTable, type SearchTables, searchTables } from './search-tables.js'
export { SqliteDataSource, type SqliteOptions } from './sqlite.js'
export { type TableMigration, tableMigrations, type TableSql } from './table-migrations.js'
export { transaction } from './transaction.js'
export { type RepositoryOptions, TypeormRepository } from './typeorm-repository.js'
export { type SentStatement, watchStatements } from './watch-statements.js'
