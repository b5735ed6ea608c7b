/**
 * Repositories, DataSources, transactions, filters and resource models.
 * @module
 */
export { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../errors.js'
export type { Column, Columns, Field } from '../resource/fields/field.js'
export type { KindName as FieldKind } from '../resource/kinds/kind.js'
export { type EntityClass, type ResourceModel, resourceModel } from '../resource/resource-model.js'
export type { NamePattern, NameVariable } from '../resource/names/name-pattern.js'
export { type NameParts, type ResourceName, resourceName } from '../resource/names/resource-name.js'
export { constraintError } from './engines/errors/constraint-error.js'
export type { Verification } from './contract/credential-check.js'
export { type DsnLogin, redactDsn, type ResolvedDsn, resolveDsn } from './hot-reload/dsn.js'
export {
  HotDataSource,
  type HotEvents,
  type HotOptions,
  type HotSettings,
  type ReloadLogger,
} from './hot-reload/hot-data-source.js'
export type { PasswordCallback } from './hot-reload/driver.js'
export { MemoryDatabase } from './memory/memory-database.js'
export { type MemoryOptions, MemoryRepository } from './memory/memory-repository.js'
export type { CatalogRow, LiveSchema } from './dialects/catalog/live-table.js'
export { columnsOf, jsonColumnsOf } from './query/columns-of.js'
export { filterPredicate, parseFilter, parseOrderBy, type Where } from './dialects/parse-filter.js'
export type { Direction, OrderBy, OrderTerm } from './query/order-by.js'
export type {
  AnyKeyRepository,
  BatchDeleteOptions,
  BatchGetOptions,
  BatchUpdateItem,
  CountOptions,
  DeleteManyOptions,
  DeleteOptions,
  FilterScope,
  ListFilter,
  ListOptions,
  ListScope,
  LookupOptions,
  ModifyOptions,
  OperationOptions,
  Page,
  ReadOptions,
  ReadTogether,
  RelatedAccess,
  RelatedOptions,
  Repository,
  RowLimits,
  BatchUpdateOptions,
  RowOptions,
  StartUpFindings,
  Through,
  TransactionOptions,
  UndeleteOptions,
  UpdateManyOptions,
  UpdateOptions,
  WriteOptions,
} from './contract/repository.js'
export type {
  ReferenceAccess,
  ReferredRow,
  ReferringOptions,
  RelatedQuestions,
} from './contract/related-options.js'
export type { Loaded, RelationPath } from '../resource/relations/loaded.js'
export { Increment, increment, type Patch } from '../resource/values/increment.js'
export type { MaskOf } from '../resource/mask-of.js'
export type { NewEntity, ServerSet } from '../resource/new-entity-of.js'
export { type Filter, filter, type FilterValue } from './query/filter-template.js'
export type { Coalesce as Merge } from './coalescing/coalesce.js'
export { inspectResources, type InspectedResource, type Inspection } from './inspect-resources.js'
export { emit, type EmitOptions, type OwnEvent } from './emit.js'
export { createTables } from './schema/create-tables.js'
export {
  type CredentialOps,
  memoryRepositoryOf,
  type MemoryRepositoryOf,
  repositoryFor,
  repositoryOf,
  type RepositoryOf,
  type SecretLookups,
  type BatchUpdateItemOf,
  type KeyOf,
  type TypedMemoryRepository,
  type TypedTypeormRepository,
} from './repository-of.js'
export { type SchemaComparison, schemaComparison } from './comparison/schema-comparison.js'
export type { SchemaVersion } from './schema/schema-version.js'
export {
  type SchemaChanges,
  type SchemaModel,
  schemaModel,
  type SchemaModelOptions,
  type SchemaTables,
} from './comparison/schema-model.js'
export type { UnfilledColumn } from './comparison/table-plan.js'
export { type SearchTable, type SearchTables, searchTables } from './schema/search-tables.js'
export { SqliteDataSource, type SqliteOptions } from './sqlite-data-source.js'
export { type TableMigration, tableMigrations, type TableSql } from './schema/table-migrations.js'
export { transaction } from './sql/transaction.js'
export type { TransactionContext } from './sql/transaction-context.js'
export type { RewrapProgress, RewrapSecretsOptions } from './repository/rewrap-secrets.js'
export { type Resources, resourcesIn } from './schema/resources-in.js'
export { type RepositoryOptions, TypeormRepository } from './sql/typeorm-repository.js'
export { type SentStatement, watchStatements } from './engines/watch-statements.js'
