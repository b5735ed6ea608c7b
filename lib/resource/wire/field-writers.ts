import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf'
import { isWrapperDesc, StructSchema } from '@bufbuild/protobuf/wkt'
import { isPlainObject, isUnwrapped } from '../messages/local-field.js'
import type { ByteWriter } from './byte-writer.js'
import { type Scalar, SCALARS, tagOf, WIRE, type Write } from './scalar-writers.js'

/** google.protobuf.FeatureSet.FieldPresence. */
export const PRESENCE = { implicit: 2, required: 3 } as const

/**
 * The compiled writer of one field: tag and value, or nothing for a value that is not set.
 * @param ofMessage - writes the fields of an embedded message, in the form in which the values have it.
 */
export function fieldWriter(field: DescField, ofMessage: (desc: DescMessage) => Write): Write {
  const one = element(field, ofMessage)
  switch (field.fieldKind) {
    case 'list':
      return field.packed ? packed(field.number, one.write) : repeated(one.writeTagged)
    case 'map':
      return map(field.number, mapKey(field.mapKey), one.entryValue)
    default:
      return presence(field, one)
  }
}

/** How one value of a field is written: bare, with the field's tag, and as the value of an entry of a map. */
interface Element {
  readonly write: Write
  readonly writeTagged: Write
  readonly entryValue: Write
  readonly isZero: (value: unknown) => boolean
}

function element(field: DescField, ofMessage: (desc: DescMessage) => Write): Element {
  const { number } = field
  if (field.message === undefined) {
    const { write, wireType, isZero } = scalarOf(field)
    return {
      write,
      writeTagged: tagged(tagOf(number, wireType), write),
      entryValue: tagged(tagOf(2, wireType), write),
      isZero,
    }
  }
  const write = messageFields(field, field.message, ofMessage)
  const isGroup = field.fieldKind !== 'map' && field.delimitedEncoding
  return {
    write,
    writeTagged: isGroup ? group(number, write) : embedded(tagOf(number, WIRE.length), write),
    entryValue: embedded(tagOf(2, WIRE.length), write),
    isZero: () => false,
  }
}

const scalarOf = (field: DescField): Scalar =>
  field.enum === undefined ? SCALARS[field.scalar as ScalarType] : enumeration(field.enum)

const enumeration = ({ values }: DescEnum): Scalar => {
  const zero = values[0]?.number
  return { ...SCALARS[ScalarType.INT32], isZero: (value) => value === zero }
}

/** The fields of an embedded message, without its tag and length. Generated code keeps some messages as bare values. */
function messageFields(field: DescField, desc: DescMessage, ofMessage: (desc: DescMessage) => Write): Write {
  if (isPlainObject(field))
    return (value, out) => out.raw(toBinary(StructSchema, fromJson(StructSchema, value as JsonValue)))
  if (isUnwrapped(field) && isWrapperDesc(desc)) {
    const [inside] = desc.fields
    return presence(inside as DescField, element(inside as DescField, ofMessage))
  }
  return ofMessage(desc)
}

/** Where the field has presence, each value but undefined is written; else each but the zero of its type. */
function presence(field: DescField, { writeTagged, isZero }: Element): Write {
  if (field.oneof !== undefined) return writeTagged
  if (field.presence === PRESENCE.implicit)
    return (value, out) => {
      if (!isZero(value)) writeTagged(value, out)
    }
  return (value, out) => {
    if (value !== undefined) writeTagged(value, out)
  }
}

const tagged =
  (tag: number, write: Write): Write =>
  (value, out) => {
    out.varint(tag)
    write(value, out)
  }

const embedded =
  (tag: number, write: Write): Write =>
  (value, out) => {
    out.varint(tag)
    const start = out.begin()
    write(value, out)
    out.end(start)
  }

const group =
  (number: number, write: Write): Write =>
  (value, out) => {
    out.varint(tagOf(number, WIRE.startGroup))
    write(value, out)
    out.varint(tagOf(number, WIRE.endGroup))
  }

const packed = (number: number, write: Write): Write => {
  const list = embedded(tagOf(number, WIRE.length), repeated(write))
  return (values, out) => {
    if (!Array.isArray(values) || values.length > 0) list(values, out)
  }
}

const repeated =
  (write: Write): Write =>
  (values, out) => {
    if (!Array.isArray(values)) throw new TypeError('the value is no list')
    const all: readonly unknown[] = values
    for (let index = 0; index < all.length; index++) write(all[index], out)
  }

function map(number: number, writeKey: (key: string, out: ByteWriter) => void, writeValue: Write): Write {
  const tag = tagOf(number, WIRE.length)
  return (record, out) => {
    const values = record as Readonly<Record<string, unknown>>
    for (const key of Object.keys(values)) {
      out.varint(tag)
      const start = out.begin()
      writeKey(key, out)
      writeValue(values[key], out)
      out.end(start)
    }
  }
}

/** Keys are the names of properties, and so texts. */
function mapKey(type: ScalarType): (key: string, out: ByteWriter) => void {
  const { wireType, write } = SCALARS[type]
  const tag = tagOf(1, wireType)
  const convert = keyConversion(type)
  return (key, out) => {
    out.varint(tag)
    write(convert(key), out)
  }
}

function keyConversion(type: ScalarType): (key: string) => unknown {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return (key) => key
    case ScalarType.BOOL:
      return (key) => (key === 'true' ? true : key === 'false' ? false : key)
    default:
      return (key) => Number.parseInt(key, 10)
  }
}
