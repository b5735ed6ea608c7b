import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf'
import {
  type ListValue,
  ListValueSchema,
  NullValue,
  type Struct,
  StructSchema,
  type Value,
  ValueSchema,
} from '@bufbuild/protobuf/wkt'
import type { ElementCount } from '../../resource/messages/message-limits.js'
import { JsonFault } from './fault.js'
import { type Json, JsonNumber } from './parse.js'
import { setOwn } from '../../resource/messages/local-field.js'
import { expected } from './scalars.js'

/**
 * Reads any JSON as a google.protobuf.Value.
 * @param elements - counts the elements.
 */
export function readValue(json: Json, elements?: ElementCount): Value {
  const value = create(ValueSchema)
  if (json === null) value.kind = { case: 'nullValue', value: NullValue.NULL_VALUE }
  else if (typeof json === 'string') value.kind = { case: 'stringValue', value: json }
  else if (typeof json === 'boolean') value.kind = { case: 'boolValue', value: json }
  else if (Array.isArray(json) || json instanceof Map) {
    elements?.add()
    value.kind = Array.isArray(json)
      ? { case: 'listValue', value: readListValue(json, elements) }
      : { case: 'structValue', value: readStruct(json, elements) }
  } else value.kind = { case: 'numberValue', value: finite(json) }
  return value
}

export function readListValue(json: Json, elements?: ElementCount): ListValue {
  if (!Array.isArray(json)) throw expected('an array', json)
  const values = json.map((one) => {
    elements?.add()
    return readValue(one, elements)
  })
  return create(ListValueSchema, { values })
}

export function readStruct(json: Json, elements?: ElementCount): Struct {
  if (!(json instanceof Map)) throw expected('an object', json)
  const struct = create(StructSchema)
  for (const [name, member] of json) {
    elements?.add()
    setOwn(struct.fields, name, readValue(member, elements))
  }
  return struct
}

/**
 * Reads the plain object that generated code uses for a Struct field.
 * @param elements - counts the elements.
 */
export function readPlainObject(json: Json, elements?: ElementCount): JsonObject {
  if (!(json instanceof Map)) throw expected('an object', json)
  const object: JsonObject = {}
  for (const [name, member] of json) {
    elements?.add()
    setOwn(object, name, plain(member, elements))
  }
  return object
}

function plain(json: Json, elements: ElementCount | undefined): JsonValue {
  if (json instanceof Map) {
    elements?.add()
    return readPlainObject(json, elements)
  }
  if (Array.isArray(json)) {
    elements?.add()
    return json.map((one) => {
      elements?.add()
      return plain(one, elements)
    })
  }
  return json instanceof JsonNumber ? finite(json) : json
}

function finite(json: number | JsonNumber): number {
  const value = typeof json === 'number' ? json : Number(json.text)
  if (!Number.isFinite(value)) throw new JsonFault('expected a number in the range of a double')
  return value
}
