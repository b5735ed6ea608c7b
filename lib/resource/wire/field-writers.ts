import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { isWrapperDesc, StructSchema } from '@bufbuild/protobuf/wkt'
import { structOfJson } from '../free-form/shape.js'
import { isPlainObject, isUnwrapped } from '../messages/local-field.js'
import { isZero, tagOf, unfit, WIRE, type Write, wireTypeOf, writeScalar } from './scalar-writers.js'

/** Values of google.protobuf.FeatureSet.FieldPresence. */
export const PRESENCE = { implicit: 2, required: 3 } as const

/**
 * Returns the compiled writer of one field. It writes the tag and value, or nothing for an unset value. Each
 * writer has its own loop and tag, so that few functions are called per value.
 * @param ofMessage - returns the writer of an embedded message's fields.
 */
export function fieldWriter(field: DescField, ofMessage: (desc: DescMessage) => Write): Write {
  if (field.fieldKind === 'map') return map(field, ofMessage)
  if (field.message !== undefined) {
    const write = messageFields(field, field.message, ofMessage)
    if (field.delimitedEncoding) return groups(field, write)
    return field.fieldKind === 'list' ? messages(field.number, write) : message(field, write)
  }
  if (field.fieldKind !== 'list') return scalar(field)
  return field.packed ? packed(field) : unpacked(field)
}

/** Returns the wire type's scalar. An enum is written as an int32. */
const typeOf = (field: DescField): ScalarType =>
  field.enum === undefined ? (field.scalar as ScalarType) : ScalarType.INT32

/**
 * Returns the writer of a scalar field. With presence, every value except undefined is written; otherwise
 * every value except the type's zero.
 */
function scalar(field: DescField): Write {
  const type = typeOf(field)
  const tag = tagOf(field.number, wireTypeOf(type))
  if (field.oneof !== undefined || field.presence !== PRESENCE.implicit) {
    const isChosen = field.oneof !== undefined
    return (value, out) => {
      if (value === undefined && !isChosen) return
      out.varint(tag)
      writeScalar(type, value, out)
    }
  }
  if (type === ScalarType.STRING)
    return (value, out) => {
      if (value === '') return
      if (typeof value !== 'string') return unfit(value)
      out.varint(tag)
      out.string(value)
    }
  // The first value of an enum need not be 0.
  const zero = field.enum?.values[0]?.number ?? (type === ScalarType.BOOL ? false : undefined)
  return (value, out) => {
    if (zero === undefined ? isZero(type, value) : value === zero) return
    out.varint(tag)
    writeScalar(type, value, out)
  }
}

/**
 * Returns the writer of an embedded message's fields, without tag and length. Generated code represents some
 * messages as plain values.
 */
function messageFields(field: DescField, desc: DescMessage, ofMessage: (desc: DescMessage) => Write): Write {
  if (isPlainObject(field)) {
    const write = ofMessage(StructSchema)
    return (value, out) => write(structOfJson(value), out)
  }
  if (isUnwrapped(field) && isWrapperDesc(desc)) return scalar(desc.fields[0] as DescField)
  return ofMessage(desc)
}

function message({ number, oneof }: DescField, write: Write): Write {
  const tag = tagOf(number, WIRE.length)
  return (value, out) => {
    if (value === undefined && oneof === undefined) return
    const start = out.begin(tag)
    write(value, out)
    out.end(start)
  }
}

function messages(number: number, write: Write): Write {
  const tag = tagOf(number, WIRE.length)
  return (values, out) => {
    for (const value of listOf(values)) {
      const start = out.begin(tag)
      write(value, out)
      out.end(start)
    }
  }
}

/** Returns the writer of a group: messages between two tags, without a length. */
function groups({ number, fieldKind, oneof }: DescField, write: Write): Write {
  const one: Write = (value, out) => {
    out.varint(tagOf(number, WIRE.startGroup))
    write(value, out)
    out.varint(tagOf(number, WIRE.endGroup))
  }
  if (fieldKind === 'list')
    return (values, out) => {
      for (const value of listOf(values)) one(value, out)
    }
  return (value, out) => {
    if (value !== undefined || oneof !== undefined) one(value, out)
  }
}

function packed(field: DescField): Write {
  const type = typeOf(field)
  const tag = tagOf(field.number, WIRE.length)
  return (values, out) => {
    const all = listOf(values)
    if (all.length === 0) return
    const start = out.begin(tag)
    for (const value of all) writeScalar(type, value, out)
    out.end(start)
  }
}

function unpacked(field: DescField): Write {
  const type = typeOf(field)
  const tag = tagOf(field.number, wireTypeOf(type))
  return (values, out) => {
    for (const value of listOf(values)) {
      out.varint(tag)
      writeScalar(type, value, out)
    }
  }
}

function listOf(values: unknown): readonly unknown[] {
  if (!Array.isArray(values)) throw new TypeError('the value is not a list')
  return values
}

function map(
  field: DescField & { readonly fieldKind: 'map' },
  ofMessage: (desc: DescMessage) => Write,
): Write {
  const { mapKey } = field
  const tag = tagOf(field.number, WIRE.length)
  const keyTag = tagOf(1, wireTypeOf(mapKey))
  const writeValue = entryValue(field, ofMessage)
  return (record, out) => {
    const values = record as Readonly<Record<string, unknown>>
    for (const key of Object.keys(values)) {
      const start = out.begin(tag)
      out.varint(keyTag)
      writeScalar(mapKey, mapKey === ScalarType.STRING ? key : keyOf(key, mapKey), out)
      writeValue(values[key], out)
      out.end(start)
    }
  }
}

function entryValue(field: DescField, ofMessage: (desc: DescMessage) => Write): Write {
  if (field.message === undefined) {
    const type = typeOf(field)
    const tag = tagOf(2, wireTypeOf(type))
    return (value, out) => {
      out.varint(tag)
      writeScalar(type, value, out)
    }
  }
  const tag = tagOf(2, WIRE.length)
  const write = messageFields(field, field.message, ofMessage)
  return (value, out) => {
    const start = out.begin(tag)
    write(value, out)
    out.end(start)
  }
}

/** Converts a map key. Keys are property names and therefore strings, also for 64-bit integers. */
function keyOf(key: string, type: ScalarType): unknown {
  switch (type) {
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return key
    case ScalarType.BOOL:
      return key === 'true' ? true : key === 'false' ? false : key
    default:
      return Number.parseInt(key, 10)
  }
}
