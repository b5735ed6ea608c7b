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
import { JsonFault } from './fault.js'
import { type Json, JsonNumber } from './parse.js'
import { setOwn } from '../../resource/messages/local-field.js'
import { expected } from './scalars.js'

/** Reads any JSON as a google.protobuf.Value. */
export function readValue(json: Json): Value {
  const value = create(ValueSchema)
  if (json === null) value.kind = { case: 'nullValue', value: NullValue.NULL_VALUE }
  else if (typeof json === 'string') value.kind = { case: 'stringValue', value: json }
  else if (typeof json === 'boolean') value.kind = { case: 'boolValue', value: json }
  else if (Array.isArray(json)) value.kind = { case: 'listValue', value: readListValue(json) }
  else if (json instanceof Map) value.kind = { case: 'structValue', value: readStruct(json) }
  else value.kind = { case: 'numberValue', value: finite(json) }
  return value
}

export function readListValue(json: Json): ListValue {
  if (!Array.isArray(json)) throw expected('an array', json)
  return create(ListValueSchema, { values: json.map(readValue) })
}

export function readStruct(json: Json): Struct {
  if (!(json instanceof Map)) throw expected('an object', json)
  const struct = create(StructSchema)
  for (const [name, member] of json) setOwn(struct.fields, name, readValue(member))
  return struct
}

/** The plain object that generated code keeps for a Struct field. */
export function readPlainObject(json: Json): JsonObject {
  if (!(json instanceof Map)) throw expected('an object', json)
  const object: JsonObject = {}
  for (const [name, member] of json) setOwn(object, name, plain(member))
  return object
}

function plain(json: Json): JsonValue {
  if (json instanceof Map) return readPlainObject(json)
  if (Array.isArray(json)) return json.map(plain)
  return json instanceof JsonNumber ? finite(json) : json
}

function finite(json: number | JsonNumber): number {
  const value = typeof json === 'number' ? json : Number(json.text)
  if (!Number.isFinite(value)) throw new JsonFault('expected a number in the range of a double')
  return value
}
