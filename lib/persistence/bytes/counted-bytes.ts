import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'

/**
 * The fields whose values count towards the bytes of a page: strings, bytes and JSON. Every read of the page
 * selects them, and other values are a few bytes each.
 */
export const countedFields = ({ entityFields, tenant, deleteTime }: ResourceModel): readonly Field[] =>
  entityFields.filter(
    (field) =>
      field !== tenant && field !== deleteTime && field.enumNames === undefined && !kindOf(field).isSmall,
  )

/** How many rows of these sizes fit on a page: at least one, however large. */
export function fitting(sizes: readonly number[], maxBytes: number): number {
  let total = 0
  const tooLarge = sizes.findIndex((size, i) => (total += size) > maxBytes && i > 0)
  return tooLarge === -1 ? sizes.length : tooLarge
}

/** The bytes of a row that is stored in memory, or of an entity. */
export const bytesIn = (model: ResourceModel, row: Values): number =>
  countedFields(model).reduce((sum, { property }) => sum + bytesOf(row[property]), 0)

const bytesOf = (value: unknown): number =>
  value instanceof Uint8Array
    ? value.length
    : typeof value === 'string'
      ? Buffer.byteLength(value)
      : typeof value === 'object' && value !== null
        ? Buffer.byteLength(
            JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)),
          )
        : 0
