import type { DescField, DescMessage } from '@bufbuild/protobuf'
import {
  type ListValue,
  ListValueSchema,
  NullValue,
  type Struct,
  StructSchema,
  type Value,
  ValueSchema,
} from '@bufbuild/protobuf/wkt'

/**
 * The JSON that a message in google.protobuf's `struct.proto` contains: an object, an array, or any value.
 */
export type Shape = 'object' | 'array' | 'any'

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  [StructSchema.typeName, 'object'],
  [ListValueSchema.typeName, 'array'],
  [ValueSchema.typeName, 'any'],
])

/** Returns the shape of a message with free-form content; undefined for any other message. */
export const shapeOf = (message: DescMessage | undefined): Shape | undefined =>
  message && SHAPES.get(message.typeName)

/** Returns the shape of a singular field with free-form content; undefined for any other field. */
export const shapeOfField = (field: DescField): Shape | undefined =>
  field.fieldKind === 'message' ? shapeOf(field.message) : undefined

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns true if a message of the shape can contain the JSON. A null is an unset field. */
export const hasShape = (json: unknown, shape: Shape): boolean =>
  shape === 'any' || (shape === 'array' ? Array.isArray(json) : isObject(json))

/** Converts every value of an object. `__proto__` is treated as an ordinary key. */
const entriesAs = (object: object, convert: (value: never) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, convert(value as never)]))

/** Converts a google.protobuf.Value to JSON. */
export const jsonOfValue = ({ kind }: Value): unknown => {
  switch (kind.case) {
    case 'structValue':
      return entriesAs(kind.value.fields, jsonOfValue)
    case 'listValue':
      return jsonOfList(kind.value)
    case 'nullValue':
      return null
    default:
      return kind.value
  }
}

/** Converts a google.protobuf.ListValue to JSON. */
export const jsonOfList = ({ values }: ListValue): unknown[] => values.map(jsonOfValue)

/** Converts JSON to the google.protobuf.Struct that a Value contains. */
export const structOfJson = (json: unknown): Struct => {
  if (!isObject(json)) throw new TypeError('it is not an object')
  return { $typeName: StructSchema.typeName, fields: entriesAs(json, valueOfJson) } as Struct
}

/** Converts JSON to a google.protobuf.ListValue. */
export const listOfJson = (json: readonly unknown[]): ListValue =>
  ({ $typeName: ListValueSchema.typeName, values: json.map(valueOfJson) }) as ListValue

/** Converts JSON to a google.protobuf.Value. */
export const valueOfJson = (json: unknown): Value =>
  ({ $typeName: ValueSchema.typeName, kind: kindOfJson(json) }) as Value

const kindOfJson = (json: unknown): Value['kind'] => {
  if (typeof json === 'string') return { case: 'stringValue', value: json }
  if (typeof json === 'number') return { case: 'numberValue', value: json }
  if (typeof json === 'boolean') return { case: 'boolValue', value: json }
  if (Array.isArray(json)) return { case: 'listValue', value: listOfJson(json) }
  if (json === null) return { case: 'nullValue', value: NullValue.NULL_VALUE }
  if (isObject(json)) return { case: 'structValue', value: structOfJson(json) }
  throw new TypeError(`JSON has no ${typeof json}`)
}
