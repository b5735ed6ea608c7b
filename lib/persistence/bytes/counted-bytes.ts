import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'

/**
 * Returns the string, bytes and JSON fields, whose values count towards the bytes of a page. Every read of a
 * page selects these fields. Other values are a few bytes each and do not count.
 */
export const countedFields = ({ entityFields, tenant, deleteTime }: ResourceModel): readonly Field[] =>
  entityFields.filter(
    (field) =>
      field !== tenant && field !== deleteTime && field.enumNames === undefined && !kindOf(field).isSmall,
  )

/** The minimum size of a JSON element. Even a short element takes this much memory and message space. */
const ELEMENT_BYTES = 32

/**
 * Returns the size of the elements in a JSON value. Objects are elements; strings, bytes and lists are
 * elements if a list or an object contains them.
 * @param own - the size of the value itself, if it is an element.
 */
export function elementBytes(value: unknown, own = 0): number {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return own
  if (typeof value !== 'object' || value === null) return 0
  let sum = own
  if (Array.isArray(value)) for (const one of value as unknown[]) sum += elementBytes(one, ELEMENT_BYTES)
  // `Object.values` would allocate an array for each row of a page.
  else for (const name in value) sum += elementBytes((value as Values)[name], ELEMENT_BYTES)
  return sum
}

/** Returns the JSON fields. Only their values can have elements. */
const nestedFields = ({ entityFields }: ResourceModel): readonly Field[] =>
  entityFields.filter(({ json }) => json !== undefined)

const elementBytesOf = (fields: readonly Field[], entity: Values): number =>
  fields.reduce((sum, { property }) => sum + elementBytes(entity[property]), 0)

/**
 * Returns the number of entities whose JSON elements fit within `maxBytes`.
 * @param characters - the number of characters in which the entities arrived, at least one for each element.
 */
export function fittingElements(
  model: ResourceModel,
  entities: readonly object[],
  maxBytes: number,
  characters = Infinity,
): number {
  if (characters * ELEMENT_BYTES <= maxBytes) return entities.length
  const fields = nestedFields(model)
  if (fields.length === 0) return entities.length
  return fitting(
    entities.map((entity) => elementBytesOf(fields, entity as Values)),
    maxBytes,
  )
}

/** Returns the number of rows that fit on a page. The first row always fits, however large it is. */
export function fitting(sizes: readonly number[], maxBytes: number): number {
  let total = 0
  const tooLarge = sizes.findIndex((size, i) => (total += size) > maxBytes && i > 0)
  return tooLarge === -1 ? sizes.length : tooLarge
}

/** Returns the size of an entity, or of a row of the memory database. */
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

/** Returns the number of rows of the memory database that fit on a page, and the entities of these rows. */
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

/** Returns the size of an entity for a limit: its bytes or its element bytes, whichever is larger. */
export const sizeIn = (model: ResourceModel, entity: object): number => {
  const values = entity as Values
  return Math.max(bytesIn(model, values), elementBytesOf(nestedFields(model), values))
}
