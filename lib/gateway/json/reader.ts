import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf'
import { FieldMaskSchema, isWrapperDesc, NullValue } from '@bufbuild/protobuf/wkt'
import { masked, otherwiseNamed, readMaskPaths } from './field-mask-text.js'
import { readAny } from './any.js'
import { readListValue, readPlainObject, readStruct, readValue } from './dynamic.js'
import { type ElementCount, isElement as isElementOf } from '../../resource/messages/message-limits.js'
import { JsonFault } from './fault.js'
import { type Json, JsonNumber } from './parse.js'
import { readDuration, readTimestamp } from './time.js'
import {
  isPlainObject,
  isUnwrapped,
  type Local,
  setField,
  setOwn,
} from '../../resource/messages/local-field.js'
import { expected, readInt32, type ScalarReader, scalarReader } from './scalars.js'
import { entryKey } from '../../resource/messages/entry-key.js'
import { printable } from '../../text/printable.js'

export interface JsonReadOptions {
  /** Finds the types named in a google.protobuf.Any. */
  readonly registry?: Registry
  /** Skips unknown fields and enum names instead of rejecting them. Default: false. */
  readonly ignoreUnknown?: boolean
  /** The response of the method, whose fields a read mask names. */
  readonly answer?: DescMessage
  /** Counts the elements before they are created. By default they are not counted. */
  readonly elements?: ElementCount
}

type MessageReader = (json: Json, options: JsonReadOptions) => Message
export type FieldReader = (message: Message, json: Json, options: JsonReadOptions) => void
/** A field of a message, listed under each of its names. */
interface Member {
  readonly field: DescField
  read: FieldReader | undefined
}
type ItemReader = (json: Json, options: JsonReadOptions) => unknown

/** The result for an unknown enum name that is skipped. */
const SKIPPED = Symbol('skipped')

const messageReaders = new WeakMap<DescMessage, MessageReader>()
const fieldReaders = new WeakMap<DescField, FieldReader>()

/**
 * Returns the reader of a message in proto3 JSON, compiled on first use. The reader throws {@link JsonFault}
 * with the path of the field.
 */
export function messageReader(desc: DescMessage): MessageReader {
  const known = messageReaders.get(desc)
  if (known !== undefined) return known
  const reader = wellKnownReader(desc) ?? plainReader(desc)
  messageReaders.set(desc, reader)
  return reader
}

/** Returns the reader of one field, which stores the value in the message. Compiled on first use. */
export function fieldReader(field: DescField): FieldReader {
  const known = fieldReaders.get(field)
  if (known !== undefined) return known
  const reader = compileField(field)
  fieldReaders.set(field, reader)
  return reader
}

function plainReader(desc: DescMessage): MessageReader {
  const byName = new Map<string, Member>()
  for (const field of desc.fields) {
    const member = { field, read: undefined }
    byName.set(field.name, member).set(field.jsonName, member)
  }
  return (json, options) => {
    if (!(json instanceof Map)) throw expected('an object', json)
    const message = create(desc)
    const seen = new Set<DescField>()
    for (const [name, value] of json) {
      const member = byName.get(name)
      if (member === undefined) {
        if (options.ignoreUnknown === true) continue
        throw new JsonFault('unknown field').within(printable(name))
      }
      const { field } = member
      try {
        if (seen.has(field)) throw new JsonFault('given in both its proto and its JSON name')
        seen.add(field)
        if (field.oneof !== undefined) checkOneof(message, field, field.oneof, value)
        // Compiled on demand, because messages can be recursive.
        member.read ??= fieldReader(field)
        member.read(message, value, options)
      } catch (error) {
        throw error instanceof JsonFault ? error.within(field.name) : error
      }
    }
    return message
  }
}

function checkOneof(message: Message, field: DescField, oneof: DescOneof, json: Json): void {
  if (json === null && !holdsNull(field)) return
  const choice = (message as Local)[oneof.localName] as { readonly case: string | undefined }
  if (choice.case !== undefined)
    throw new JsonFault(`only one of ${oneof.fields.map(({ name }) => name).join(', ')} may be given`)
}

function compileField(field: DescField): FieldReader {
  if (field.fieldKind === 'list') return listReader(field)
  if (field.fieldKind === 'map') return mapReader(field)
  const read = itemReader(field)
  const nullIsAbsent = !holdsNull(field)
  const { localName, oneof } = field
  const isMessage = field.message !== undefined
  return (message, json, options) => {
    if (json === null && nullIsAbsent) return
    if (isMessage) options.elements?.add()
    const value = read(json, options)
    if (value === SKIPPED) return
    if (oneof === undefined) (message as Local)[localName] = value
    else setField(message, field, value)
  }
}

function listReader(field: DescField): FieldReader {
  const read = itemReader(field)
  const refusesNull = !holdsNull(field)
  const isElement = isElementOf(field)
  return (message, json, options) => {
    if (json === null) return
    if (!Array.isArray(json)) throw expected('an array', json)
    if (options.elements !== undefined) checkEntries(field, json.length, options.elements)
    const items = (message as Local)[field.localName] as unknown[]
    try {
      for (const item of json) {
        if (item === null && refusesNull) throw mustNotBeNull()
        if (isElement) options.elements?.add()
        const value = read(item, options)
        if (value !== SKIPPED) items.push(value)
      }
    } catch (error) {
      throw error instanceof JsonFault ? error.within(`[${items.length}]`) : error
    }
  }
}

function mapReader(field: DescField & { readonly fieldKind: 'map' }): FieldReader {
  const read = itemReader(field)
  const readKey = scalarReader(field.mapKey)
  const isBool = field.mapKey === ScalarType.BOOL
  const isText = field.mapKey === ScalarType.STRING
  const refusesNull = !holdsNull(field)
  return (message, json, options) => {
    if (json === null) return
    if (!(json instanceof Map)) throw expected('an object', json)
    if (options.elements !== undefined) checkEntries(field, json.size, options.elements)
    const entries = (message as Local)[field.localName] as Record<string, unknown>
    for (const [name, item] of json)
      try {
        options.elements?.add()
        if (item === null && refusesNull) throw mustNotBeNull()
        const key = String(readKey(isBool ? asBool(name) : name))
        if (Object.hasOwn(entries, key)) throw new JsonFault('duplicate key')
        const value = read(item, options)
        if (value !== SKIPPED) setOwn(entries, key, value)
      } catch (error) {
        throw error instanceof JsonFault
          ? error.within(entryKey(field, isText ? name : printable(name)))
          : error
      }
  }
}

/** @throws JsonFault for more entries than the field allows. */
function checkEntries(field: DescField, entries: number, elements: ElementCount): void {
  const excess = elements.excess(field, entries)
  if (excess !== undefined) throw new JsonFault(excess)
}

const mustNotBeNull = (): JsonFault => new JsonFault('must not be null')

/** Returns the reader of one value: the field itself, a list item, or a map value. */
function itemReader(field: DescField): ItemReader {
  if (field.enum !== undefined) return enumReader(field.enum)
  if (field.message === undefined)
    return scalarReader(field.scalar, 'longAsString' in field && field.longAsString)
  if (field.message.typeName === FieldMaskSchema.typeName)
    return maskReader(masked(field), otherwiseNamed(field))
  if (isPlainObject(field)) return (json, { elements }) => readPlainObject(json, elements)
  if (isUnwrapped(field)) return wrappedReader(field.message)
  const { message } = field
  let reader: MessageReader | undefined
  return (json, options) => (reader ??= messageReader(message))(json, options)
}

const maskReader =
  (messages: readonly DescMessage[], otherwise: readonly DescMessage[] = []): MessageReader =>
  (json, { answer, elements }) => {
    const given = text(json, 'a string of paths')
    // As in the binary format, each path counts as a string in a list.
    if (elements !== undefined && given !== '')
      for (let at = 0; at >= 0; at = given.indexOf(',', at + 1)) elements.add()
    const paths = readMaskPaths(given, messages, answer, otherwise)
    return Object.assign(create(FieldMaskSchema), { paths })
  }

function wrappedReader(desc: DescMessage): ScalarReader {
  const [value] = desc.fields
  if (value?.scalar === undefined) throw new TypeError(`${desc.typeName} is not a wrapper`)
  return scalarReader(value.scalar, 'longAsString' in value && value.longAsString)
}

function enumReader(desc: DescEnum): ItemReader {
  const numbers = new Map(desc.values.map(({ name, number }) => [name, number]))
  const isNull = desc.typeName === 'google.protobuf.NullValue'
  const known = new Set(numbers.values())
  return (json, options) => {
    if (json === null && isNull) return NullValue.NULL_VALUE
    if (typeof json === 'string') {
      const number = numbers.get(json)
      if (number !== undefined) return number
      if (options.ignoreUnknown === true) return SKIPPED
      throw new JsonFault(`expected one of ${desc.values.map(({ name }) => name).join(', ')}`)
    }
    if (typeof json !== 'number' && !(json instanceof JsonNumber))
      throw expected('an enum name or number', json)
    const number = readInt32(json)
    if (!desc.open && !known.has(number)) throw new JsonFault('unknown enum number')
    return number
  }
}

/** Returns true for fields in which JSON null is a value. */
const holdsNull = (field: DescField): boolean =>
  field.message?.typeName === 'google.protobuf.Value' || field.enum?.typeName === 'google.protobuf.NullValue'

function wellKnownReader(desc: DescMessage): MessageReader | undefined {
  switch (desc.typeName) {
    case 'google.protobuf.Any':
      return (json, options) => readAny(json, options, messageReader)
    case 'google.protobuf.Timestamp':
      return (json) => readTimestamp(text(json, 'a timestamp string'))
    case 'google.protobuf.Duration':
      return (json) => readDuration(text(json, 'a duration string'))
    case 'google.protobuf.FieldMask':
      return maskReader([])
    case 'google.protobuf.Struct':
      return (json, { elements }) => readStruct(json, elements)
    case 'google.protobuf.Value':
      return (json, { elements }) => readValue(json, elements)
    case 'google.protobuf.ListValue':
      return (json, { elements }) => readListValue(json, elements)
    default:
      return isWrapperDesc(desc) ? wrapperReader(desc) : undefined
  }
}

function wrapperReader(desc: DescMessage): MessageReader {
  const read = wrappedReader(desc)
  return (json) => Object.assign(create(desc), { value: read(json) })
}

function text(json: Json, what: string): string {
  if (typeof json !== 'string') throw expected(what, json)
  return json
}

const asBool = (name: string): Json => (name === 'true' ? true : name === 'false' ? false : name)
