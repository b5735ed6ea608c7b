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

/** The minimum that a JSON element counts as, in memory and as a message, however few bytes its text has. */
const ELEMENT_BYTES = 32

/**
 * The bytes that the elements of values count as: objects, and strings, bytes and lists in lists and objects.
 */
export function elementBytes(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0
  let sum = 0
  for (const one of Object.values(value) as unknown[])
    if (typeof one === 'string') sum += ELEMENT_BYTES
    else if (typeof one === 'object' && one !== null) sum += ELEMENT_BYTES + elementBytes(one)
  return sum
}

/** The fields whose values may have elements. */
const nestedFields = ({ entityFields }: ResourceModel): readonly Field[] =>
  entityFields.filter(({ json }) => json !== undefined)

const elementBytesOf = (fields: readonly Field[], entity: Values): number =>
  fields.reduce((sum, { property }) => sum + elementBytes(entity[property]), 0)

/** The number of entities that fit by the elements of their values. */
export function fittingElements(model: ResourceModel, entities: readonly object[], maxBytes: number): number {
  const fields = nestedFields(model)
  if (fields.length === 0) return entities.length
  return fitting(
    entities.map((entity) => elementBytesOf(fields, entity as Values)),
    maxBytes,
  )
}

/** The number of rows of these sizes that fit on a page: at least one, however large. */
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

/** The number of rows stored in memory that fit, and their entities. */
export const fittingIn = (
  model: ResourceModel,
  rows: readonly Values[],
  entities: readonly object[],
  maxBytes: number,
): number =>
  Math.min(
    fitting(
      rows.map((row) => bytesIn(model, row)),
      maxBytes,
    ),
    fittingElements(model, entities, maxBytes),
  )

/** The size of an entity towards a limit: its bytes, or its elements if they count for more. */
export const sizeIn = (model: ResourceModel, entity: object): number => {
  const values = entity as Values
  return Math.max(bytesIn(model, values), elementBytesOf(nestedFields(model), values))
}
