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
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf'
import { responseTooLarge } from '../../bounds/response-bytes.js'
import { nameable, writeMaskPaths } from './field-mask-text.js'
import { hasSpecialJson } from './any.js'
import { writeDuration, writeTimestamp } from './time.js'
import { behaves } from '../../resource/behavior/field-behavior.js'
import { getField, isPlainObject, isUnwrapped, type Local } from '../../resource/messages/local-field.js'
import { mapKeyWriter, quote, refuse, scalarWriter, writeFinite, writeInt32 } from './scalar-writer.js'

export interface JsonWriteOptions {
  /** Finds the types in google.protobuf.Any values. */
  readonly registry?: Registry
  /** Writing stops soon after the text exceeds this length. Default: no limit. */
  readonly maxCharacters?: number
}

/**
 * Writes one value as JSON text.
 * @throws ResourceExhausted soon after a list or map exceeds `maxCharacters`. A message that contains one
 *   value a thousand times is larger than its parts.
 */
export type JsonWriter<T = unknown> = (value: T, options: JsonWriteOptions) => string

const messageWriters = new WeakMap<DescMessage, JsonWriter<Message>>()
const fieldWriters = new WeakMap<DescField, JsonWriter<Message>>()

/**
 * Returns the writer of a message in proto3 JSON, compiled on first use. It writes lowerCamelCase names and
 * zero values, and omits unset messages, unset `optional` fields and INPUT_ONLY fields. The writer throws a
 * RangeError with the field for an invalid value.
 */
export function messageWriter(desc: DescMessage): JsonWriter<Message> {
  const known = messageWriters.get(desc)
  if (known !== undefined) return known
  const write = wellKnownWriter(desc) ?? plainWriter(desc)
  const { typeName } = desc
  const writer: JsonWriter<Message> = (message, options) => {
    // Rejects values that are not messages, which have no type name.
    if ((message as Message | undefined | null)?.$typeName !== typeName) refuse(message, typeName)
    return write(message, options)
  }
  messageWriters.set(desc, writer)
  return writer
}

/** Returns the writer of one field's value; an unset value is written as `null`. */
export function fieldWriter(field: DescField): JsonWriter<Message> {
  const known = fieldWriters.get(field)
  if (known !== undefined) return known
  const write = valueWriter(field)
  const writer: JsonWriter<Message> = (message, options) => {
    const value = getField(message, field)
    if (value === undefined) return 'null'
    try {
      return write(value, options)
    } catch (error) {
      throw inField(field, error)
    }
  }
  fieldWriters.set(field, writer)
  return writer
}

function plainWriter(desc: DescMessage): JsonWriter<Message> {
  // Responses never contain an INPUT_ONLY field, not even its zero value (AIP-203).
  const fields = [...desc.fields]
    .filter((field) => !behaves(field, 'INPUT_ONLY'))
    .sort((a, b) => a.number - b.number)
  let members: readonly JsonWriter<Message>[] | undefined
  return (message, options) => {
    members ??= fields.map(memberWriter)
    let text = ''
    let at = 0
    try {
      for (const write of members) {
        const member = write(message, options)
        if (member !== '') text += text === '' ? member : `,${member}`
        at++
      }
    } catch (error) {
      throw inField(fields[at], error)
    }
    return `{${text}}`
  }
}

/** Adds the name of the innermost field to the error, once. */
function inField(field: DescField | undefined, error: unknown): unknown {
  if (field === undefined || !(error instanceof RangeError) || error.message.startsWith(FIELD)) return error
  return new RangeError(`${FIELD}${field.parent.typeName}.${field.name}: ${error.message}`, { cause: error })
}

const FIELD = 'field '

/**
 * Returns the writer of one member of an object with its name. The text is empty if the member is omitted.
 */
export function memberWriter(field: DescField): JsonWriter<Message> {
  const name = `${JSON.stringify(field.jsonName)}:`
  const write = valueWriter(field)
  const { localName } = field
  if (field.oneof === undefined && field.presence === FeatureSet_FieldPresence.IMPLICIT)
    return (message, options) => name + write((message as Local)[localName], options)
  if (field.fieldKind === 'list' || field.fieldKind === 'map')
    return (message, options) => name + write((message as Local)[localName], options)
  return (message, options) => {
    const value =
      field.oneof === undefined && !Object.hasOwn(message, localName) ? undefined : getField(message, field)
    return value === undefined ? '' : name + write(value, options)
  }
}

/** Returns the writer of a field's value in generated code. The value must be set. */
export function valueWriter(field: DescField): JsonWriter {
  const write = itemWriter(field)
  if (field.fieldKind === 'list') return listWriter(write)
  return field.fieldKind === 'map' ? mapWriter(mapKeyWriter(field.mapKey), write) : write
}

function listWriter(write: JsonWriter): JsonWriter {
  return (items, options) => {
    if (!Array.isArray(items)) return refuse(items, 'array')
    let text = ''
    for (const item of items as readonly unknown[]) text = joined(text, write(item, options), options)
    return `[${text}]`
  }
}

/**
 * Returns the text with one more item.
 * @throws ResourceExhausted if it is too long.
 */
export function joined(text: string, item: string, { maxCharacters = Infinity }: JsonWriteOptions): string {
  if (text.length + item.length > maxCharacters) throw responseTooLarge(maxCharacters)
  return text === '' ? item : `${text},${item}`
}

function mapWriter(writeKey: (key: string) => string, write: JsonWriter): JsonWriter {
  return (entries, options) => {
    if (!isRecord(entries)) return refuse(entries, 'object')
    let text = ''
    for (const [key, value] of Object.entries(entries))
      text = joined(text, `${writeKey(key)}:${write(value, options)}`, options)
    return `{${text}}`
  }
}

/** Returns true for an object whose properties are map entries. */
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map)

function itemWriter(field: DescField): JsonWriter {
  if (field.enum !== undefined) return enumWriter(field.enum)
  if (field.message === undefined) return scalarWriter(field.scalar)
  if (field.message.typeName === 'google.protobuf.FieldMask')
    return maskWriter(field.message, nameable(field))
  if (isPlainObject(field)) return (value) => (isRecord(value) ? writePlain(value) : refuse(value, 'object'))
  if (isUnwrapped(field)) return wrappedWriter(field.message)
  const { message } = field
  let write: JsonWriter<Message> | undefined
  return (value, options) => (write ??= messageWriter(message))(value as Message, options)
}

function maskWriter(desc: DescMessage, messages: readonly DescMessage[]): JsonWriter {
  return (mask) => {
    if ((mask as Message | undefined | null)?.$typeName !== desc.typeName) refuse(mask, desc.typeName)
    return quote(writeMaskPaths((mask as FieldMask).paths, messages))
  }
}

function enumWriter(desc: DescEnum): JsonWriter {
  if (desc.typeName === 'google.protobuf.NullValue') return () => 'null'
  const names = new Map<unknown, string>()
  for (const { name, number } of desc.values) if (!names.has(number)) names.set(number, `"${name}"`)
  return (value) => names.get(value) ?? writeInt32(value)
}

const wrappedWriter = (desc: DescMessage): JsonWriter =>
  scalarWriter(desc.fields[0]?.scalar ?? ScalarType.STRING)

function wellKnownWriter(desc: DescMessage): JsonWriter<Message> | undefined {
  switch (desc.typeName) {
    case 'google.protobuf.Any':
      return (any, options) => writeAny(any as Any, options)
    case 'google.protobuf.Timestamp':
      return (timestamp) => `"${writeTimestamp(timestamp)}"`
    case 'google.protobuf.Duration':
      return (duration) => `"${writeDuration(duration)}"`
    case 'google.protobuf.FieldMask':
      return maskWriter(desc, [])
    case 'google.protobuf.Struct':
      return (struct) => writeStruct(struct as Struct)
    case 'google.protobuf.Value':
      return (value) => writeValue(value as Value)
    case 'google.protobuf.ListValue':
      return (list) => writeList(list as ListValue)
    default:
      return isWrapperDesc(desc) ? wrapperWriter(desc) : undefined
  }
}

function wrapperWriter(desc: DescMessage): JsonWriter<Message> {
  const write = wrappedWriter(desc)
  return (message, options) => write((message as Local).value, options)
}

/**
 * Writes an Any. If its type is unknown to this release, or its content is unreadable, only the type is
 * written, so that the rest of the response does not fail.
 */
function writeAny(any: Any, options: JsonWriteOptions): string {
  if (any.typeUrl === '') return '{}'
  const type = `"@type":${quote(any.typeUrl)}`
  const held = unpacked(any, options)
  if (held === undefined) return `{${type}}`
  const [desc, message] = held
  const content = messageWriter(desc)(message, options)
  if (hasSpecialJson(desc)) return `{${type},"value":${content}}`
  return content === '{}' ? `{${type}}` : `{${type},${content.slice(1)}`
}

function unpacked(any: Any, options: JsonWriteOptions): readonly [DescMessage, Message] | undefined {
  const desc = options.registry?.getMessage(any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1))
  if (desc === undefined) return undefined
  try {
    const message = anyUnpack(any, desc)
    return message && [desc, message]
  } catch {
    return undefined
  }
}

function writeStruct({ fields }: Struct): string {
  if (!isRecord(fields)) return refuse(fields, 'object')
  return `{${Object.entries(fields)
    .map(([name, value]) => `${quote(name)}:${writeValue(value)}`)
    .join(',')}}`
}

function writeValue({ kind }: Value): string {
  switch (kind.case) {
    case 'structValue':
      return writeStruct(kind.value)
    case 'listValue':
      return writeList(kind.value)
    case 'numberValue':
      return writeFinite(kind.value)
    case 'stringValue':
      return writeText(kind.value)
    case 'boolValue':
      return writeFlag(kind.value)
    case 'nullValue':
      return 'null'
    default:
      throw new RangeError('a google.protobuf.Value is empty')
  }
}

const writeList = ({ values }: ListValue): string =>
  Array.isArray(values) ? `[${values.map(writeValue).join(',')}]` : refuse(values, 'array')

const writeText = scalarWriter(ScalarType.STRING)
const writeFlag = scalarWriter(ScalarType.BOOL)

/**
 * Writes the plain object that generated code uses for a Struct. JSON.stringify would lose the sign of zero.
 */
function writePlain(value: unknown): string {
  switch (typeof value) {
    case 'number':
      return writeFinite(value)
    case 'string':
      return quote(value)
    case 'boolean':
      return String(value)
    case 'object':
      if (value === null) return 'null'
      // Array.from turns a hole into undefined, which is rejected.
      if (Array.isArray(value)) return `[${Array.from(value, writePlain).join(',')}]`
      return `{${Object.entries(value)
        .map(([name, member]) => `${quote(name)}:${writePlain(member)}`)
        .join(',')}}`
    default:
      return refuse(value, 'JSON value')
  }
}
