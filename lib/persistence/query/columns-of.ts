import type { Columns } from '../../resource/fields/field.js'
import { type EntityClass, resourceModel } from '../../resource/resource-model.js'

/**
 * Returns the fields that a filter or sort order can name, with their columns. Secrets, credentials and
 * output-only fields are not included, unless they are declared filterable.
 */
export const columnsOf = <E extends object>(entity: EntityClass<E>): Columns => resourceModel(entity).columns

/** Returns the tags fields of an entity, with their JSON columns. */
export const jsonColumnsOf = <E extends object>(entity: EntityClass<E>): Columns =>
  resourceModel(entity).jsonColumns
