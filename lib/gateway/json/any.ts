import { create, type DescMessage, type Message, toBinary } from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { JsonFault } from './fault.js'
import type { Json } from './parse.js'
import type { JsonReadOptions } from './reader.js'
import { expected } from './scalars.js'

const SPECIAL = new Set(
  'Any Timestamp Duration FieldMask Struct Value ListValue DoubleValue FloatValue Int64Value UInt64Value Int32Value UInt32Value BoolValue StringValue BytesValue'
    .split(' ')
    .map((name) => `google.protobuf.${name}`),
)

/**
 * Returns true for messages whose JSON is not an object of their fields. An Any contains them under `value`.
 */
export const hasSpecialJson = (desc: DescMessage): boolean => SPECIAL.has(desc.typeName)

/** Reads `{"@type": ..., fields}` or, for types with a special JSON form, `{"@type": ..., "value": ...}`. */
export function readAny(
  json: Json,
  options: JsonReadOptions,
  readerOf: (desc: DescMessage) => (json: Json, options: JsonReadOptions) => Message,
): Message {
  if (!(json instanceof Map)) throw expected('an object', json)
  if (json.size === 0) return create(AnySchema)
  const typeUrl = json.get('@type')
  if (typeof typeUrl !== 'string' || !typeUrl.includes('/'))
    throw new JsonFault('expected a type URL').within('@type')
  const desc = options.registry?.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
  if (desc === undefined) throw new JsonFault('unknown type').within('@type')
  // The content of an Any is not related to the response.
  const { answer: _, ...inside } = options
  const value = toBinary(desc, readerOf(desc)(contentOf(json, desc), inside))
  return create(AnySchema, { typeUrl, value })
}

function contentOf(json: ReadonlyMap<string, Json>, desc: DescMessage): Json {
  const rest = new Map([...json].filter(([name]) => name !== '@type'))
  if (!hasSpecialJson(desc)) return rest
  const value = rest.get('value')
  if (value === undefined || rest.size !== 1) throw new JsonFault('expected "@type" and "value"')
  return value
}
