import { type DescEnum, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import type { JsonObject } from '../source/source.js'

/**
 * Returns the schema of a 64-bit integer. It is a string, because a JavaScript number would lose digits.
 * Requests may also contain a number, which protobuf's JSON accepts.
 */
const long = (format: string, sign: string, isInput: boolean): JsonObject => ({
  type: isInput ? ['string', 'integer'] : 'string',
  format,
  pattern: `^${sign}(0|[1-9][0-9]*)$`,
})

/**
 * Returns the schema of a scalar.
 * @param isFinite - true if the field rejects infinities and NaN.
 * @param isInput - true if the schema describes a request.
 */
export function scalarSchema(type: ScalarType, isFinite: boolean, isInput: boolean): JsonObject {
  switch (type) {
    case ScalarType.STRING:
      return { type: 'string' }
    case ScalarType.BOOL:
      return { type: 'boolean' }
    case ScalarType.BYTES:
      return { type: 'string', format: 'byte', contentEncoding: 'base64' }
    case ScalarType.FLOAT:
      return floating('float', isFinite)
    case ScalarType.DOUBLE:
      return floating('double', isFinite)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: 'integer', format: 'int64', minimum: 0, maximum: 4294967295 }
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: 'integer', format: 'int32' }
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return long('int64', '-?', isInput)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return long('uint64', '', isInput)
  }
}

const floating = (format: string, isFinite: boolean): JsonObject =>
  isFinite
    ? { type: 'number', format }
    : {
        anyOf: [
          { type: 'number', format },
          { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] },
        ],
      }

/** Returns the schema of map keys, which are strings in JSON; empty if every string is valid. */
export function keySchema(type: ScalarType): JsonObject {
  if (type === ScalarType.STRING) return {}
  if (type === ScalarType.BOOL) return { enum: ['false', 'true'] }
  const { minimum, pattern } = scalarSchema(type, true, false)
  return { pattern: pattern ?? long('', minimum === undefined ? '-?' : '', false)['pattern'] }
}

/**
 * Returns the schema of a message whose JSON is not an object of its fields; undefined for any other message.
 */
export function wellKnownSchema(desc: DescMessage, isInput: boolean): JsonObject | undefined {
  if (isWrapperDesc(desc)) return scalarSchema(desc.fields[0].scalar, false, isInput)
  return Object.hasOwn(WELL_KNOWN, desc.typeName) ? WELL_KNOWN[desc.typeName] : undefined
}

const WELL_KNOWN: Readonly<Record<string, JsonObject>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': {
    type: 'string',
    pattern: '^-?[0-9]{1,12}(\\.[0-9]{1,9})?s$',
    description: 'Seconds, such as `1.5s`.',
  },
  'google.protobuf.FieldMask': {
    type: 'string',
    format: 'field-mask',
    description: 'Field names, separated by commas.',
  },
  'google.protobuf.Struct': { type: 'object', additionalProperties: true },
  'google.protobuf.Value': { description: 'Any JSON.' },
  'google.protobuf.ListValue': { type: 'array', items: {} },
  'google.protobuf.Any': {
    type: 'object',
    description: 'A message of the type that `@type` names; empty if there is none.',
    properties: { '@type': { type: 'string' } },
    additionalProperties: true,
  },
}

/**
 * Returns the names of an enum by number. Aliases are omitted, because they are accepted but never written.
 */
export function enumNames({ values }: DescEnum): ReadonlyMap<number, string> {
  const names = new Map<number, string>()
  for (const { name, number } of values) if (!names.has(number)) names.set(number, name)
  return names
}
