import {
  anyUnpack,
  type Any,
  FeatureSet_FieldPresence,
  type FieldMask,
  isWrapperDesc,
  type ListValue,
  type Struct,
  type Value,
} from '@bufbuild/protobuf/wkt'
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf'
import { writeMaskPaths } from './field-mask-text.js'
import { hasSpecialJson } from './json-any.js'
import { writeDuration, writeTimestamp } from './json-time.js'
import { getField, isPlainObject, isUnwrapped, type Local } from './local-field.js'

/** Writes one value as JSON text. The registry knows the types that a google.protobuf.Any holds. */
export type JsonWriter<T = unknown> = (value: T, registry: Registry | undefined) => string

const messageWriters = new WeakMap<DescMessage, JsonWriter<Message>>()
const fieldWriters = new WeakMap<DescField, JsonWriter<Message>>()

/**
 * The writer of a message in proto3 JSON, compiled on first use: lowerCamelCase names, zero values written, absent
 * messages and `optional` fields left out. Throws a RangeError for values that the mapping cannot say.
 */
export function messageWriter(desc: DescMessage): JsonWriter<Message> {
  const known = messageWriters.get(desc)
  if (known !== undefined) return known
  const writer = wellKnownWriter(desc) ?? plainWriter(desc)
  messageWriters.set(desc, writer)
  return writer
}

/** The writer of what one field of a message holds; an absent one is `null`. */
export function fieldWriter(field: DescField): JsonWriter<Message> {
  const known = fieldWriters.get(field)
  if (known !== undefined) return known
  const write = valueWriter(field)
  const writer: JsonWriter<Message> = (message, registry) => {
    const value = getField(message, field)
    return value === undefined ? 'null' : write(value, registry)
  }
  fieldWriters.set(field, writer)
  return writer
}

function plainWriter(desc: DescMessage): JsonWriter<Message> {
  let members: readonly JsonWriter<Message>[] | undefined
  return (message, registry) => {
    members ??= [...desc.fields].sort((a, b) => a.number - b.number).map(memberWriter)
    let text = ''
    for (const write of members) {
      const member = write(message, registry)
      if (member !== '') text += text === '' ? member : `,${member}`
    }
    return `{${text}}`
  }
}

function memberWriter(field: DescField): JsonWriter<Message> {
  const name = `${JSON.stringify(field.jsonName)}:`
  const write = valueWriter(field)
  const { localName } = field
  if (field.oneof === undefined && field.presence === FeatureSet_FieldPresence.IMPLICIT)
    return (message, registry) => name + write((message as Local)[localName], registry)
  if (field.fieldKind === 'list' || field.fieldKind === 'map')
    return (message, registry) => name + write((message as Local)[localName], registry)
  return (message, registry) => {
    const value =
      field.oneof === undefined && !Object.hasOwn(message, localName) ? undefined : getField(message, field)
    return value === undefined ? '' : name + write(value, registry)
  }
}

function valueWriter(field: DescField): JsonWriter {
  const write = itemWriter(field)
  if (field.fieldKind === 'list') return listWriter(write)
  return field.fieldKind === 'map' ? mapWriter(write) : write
}

function listWriter(write: JsonWriter): JsonWriter {
  return (items, registry) => {
    let text = ''
    for (const item of items as readonly unknown[])
      text += text === '' ? write(item, registry) : `,${write(item, registry)}`
    return `[${text}]`
  }
}

function mapWriter(write: JsonWriter): JsonWriter {
  return (entries, registry) => {
    let text = ''
    for (const [key, value] of Object.entries(entries as object))
      text += `${text === '' ? '' : ','}${quote(key)}:${write(value, registry)}`
    return `{${text}}`
  }
}

function itemWriter(field: DescField): JsonWriter {
  if (field.enum !== undefined) return enumWriter(field.enum)
  if (field.message === undefined) return scalarWriter(field.scalar)
  if (isPlainObject(field)) return (value) => writePlain(value as JsonValue)
  if (isUnwrapped(field)) return wrappedWriter(field.message)
  const { message } = field
  let write: JsonWriter<Message> | undefined
  return (value, registry) => (write ??= messageWriter(message))(value as Message, registry)
}

function scalarWriter(type: ScalarType): JsonWriter {
  switch (type) {
    case ScalarType.STRING:
      return (value) => quote(value as string)
    case ScalarType.BYTES:
      return (value) => `"${Buffer.from(value as Uint8Array).toString('base64')}"`
    case ScalarType.FLOAT:
      return (value) => writeNumber(value as number, shortestFloat)
    case ScalarType.DOUBLE:
      return (value) => writeNumber(value as number, String)
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => `"${String(value)}"`
    default:
      return String
  }
}

function enumWriter(desc: DescEnum): JsonWriter {
  if (desc.typeName === 'google.protobuf.NullValue') return () => 'null'
  const names = new Map<unknown, string>()
  for (const { name, number } of desc.values) if (!names.has(number)) names.set(number, `"${name}"`)
  return (value) => names.get(value) ?? String(value)
}

const wrappedWriter = (desc: DescMessage): JsonWriter =>
  scalarWriter(desc.fields[0]?.scalar ?? ScalarType.STRING)

function wellKnownWriter(desc: DescMessage): JsonWriter<Message> | undefined {
  switch (desc.typeName) {
    case 'google.protobuf.Any':
      return (any, registry) => writeAny(any as Any, registry)
    case 'google.protobuf.Timestamp':
      return (timestamp) => `"${writeTimestamp(timestamp)}"`
    case 'google.protobuf.Duration':
      return (duration) => `"${writeDuration(duration)}"`
    case 'google.protobuf.FieldMask':
      return (mask) => quote(writeMaskPaths((mask as FieldMask).paths))
    case 'google.protobuf.Struct':
      return (struct) => writeStruct(struct as Struct)
    case 'google.protobuf.Value':
      return (value) => writeValue(value as Value)
    case 'google.protobuf.ListValue':
      return (list) => `[${(list as ListValue).values.map(writeValue).join(',')}]`
    default:
      return isWrapperDesc(desc) ? wrapperWriter(desc) : undefined
  }
}

function wrapperWriter(desc: DescMessage): JsonWriter<Message> {
  const write = wrappedWriter(desc)
  return (message, registry) => write((message as Local).value, registry)
}

function writeAny(any: Any, registry: Registry | undefined): string {
  if (any.typeUrl === '') return '{}'
  const message = registry === undefined ? undefined : anyUnpack(any, registry)
  const desc = message === undefined ? undefined : registry?.getMessage(message.$typeName)
  if (message === undefined || desc === undefined)
    throw new RangeError('an Any holds a type that is not registered')
  const type = `"@type":${quote(any.typeUrl)}`
  const content = messageWriter(desc)(message, registry)
  if (hasSpecialJson(desc)) return `{${type},"value":${content}}`
  return content === '{}' ? `{${type}}` : `{${type},${content.slice(1)}`
}

const writeStruct = (struct: Struct): string =>
  `{${Object.entries(struct.fields)
    .map(([name, value]) => `${quote(name)}:${writeValue(value)}`)
    .join(',')}}`

function writeValue({ kind }: Value): string {
  switch (kind.case) {
    case 'structValue':
      return writeStruct(kind.value)
    case 'listValue':
      return `[${kind.value.values.map(writeValue).join(',')}]`
    case 'numberValue':
      return finite(kind.value)
    case 'stringValue':
      return quote(kind.value)
    case 'boolValue':
      return String(kind.value)
    case 'nullValue':
      return 'null'
    case undefined:
      throw new RangeError('a google.protobuf.Value is empty')
  }
}

/** Writes the plain object that generated code keeps for a Struct. JSON.stringify would lose the sign of a zero. */
function writePlain(value: JsonValue): string {
  if (typeof value === 'number') return finite(value)
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(writePlain).join(',')}]`
  return `{${Object.entries(value)
    .map(([name, member]) => `${quote(name)}:${writePlain(member)}`)
    .join(',')}}`
}

function finite(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('a google.protobuf.Value holds a number JSON has not')
  return writeNumber(value, String)
}

const ESCAPED = /["\\\u0000-\u001f\u007f\u2028\u2029\ud800-\udfff]/

/** A JSON string. */
export const quote = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`)

function writeNumber(value: number, spell: (value: number) => string): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : spell(value)
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"'
}

/** The fewest digits that read back as the same 32-bit float. */
function shortestFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 16_777_216) return String(value)
  for (let precision = 6; precision < 9; precision++) {
    const short = Number(value.toPrecision(precision))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}
