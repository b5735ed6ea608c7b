import type { Columns } from '../../resource/fields/field.js'
import { type EntityClass, resourceModel } from '../../resource/resource-model.js'

/**
 * What a filter or an order may name: proto field name → column. Secrets, credentials and output-only fields are not
 * among them, unless the field says that it is filterable.
 */
export const columnsOf = <E extends object>(entity: EntityClass<E>): Columns => resourceModel(entity).columns

/** The tags fields of an entity: proto field name → JSON column. */
export const jsonColumnsOf = <E extends object>(entity: EntityClass<E>): Columns =>
  resourceModel(entity).jsonColumns
