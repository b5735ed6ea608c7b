export { ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../errors.js'
export { resourceModel } from '../resource/resource-model.js'
export type { EntityClass, ResourceModel } from '../resource/resource-model.js'
export type { Column, Columns, Field, FieldKind } from '../resource/field.js'
export type {
  BatchUpdateItem,
  ListOptions,
  OperationOptions,
  Page,
  Repository,
  WriteOptions,
} from './repository.js'
export { SqliteDataSource, type SqliteOptions } from './sqlite.js'
