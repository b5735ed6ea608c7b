import type { Columns } from '../../resource/fields/field.js'
import { type EntityClass, resourceModel } from '../../resource/resource-model.js'

/**
 * The fields that a filter or an order can name: proto field name → column. Secrets, credentials and
 * output-only fields are missing, unless the field is declared filterable.
 */
export const columnsOf = <E extends object>(entity: EntityClass<E>): Columns => resourceModel(entity).columns

/** The tags fields of an entity: proto field name → JSON column. */
export const jsonColumnsOf = <E extends object>(entity: EntityClass<E>): Columns =>
  resourceModel(entity).jsonColumns
