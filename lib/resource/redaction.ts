import {
  clone,
  type DescField,
  type DescMessage,
  fromBinary,
  hasOption,
  type Message,
  type Registry,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import {
  type Any,
  AnySchema,
  type ListValue,
  type Struct,
  type Timestamp,
  TimestampSchema,
  type Value,
} from '@bufbuild/protobuf/wkt'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { behaves } from './behavior/field-behavior.js'
import { fieldMarks } from './behavior/field-marks.js'
import { toDate } from './kinds/timestamp.js'
import { shapeOf } from './free-form/shape.js'

/** The replacement for a secret in a log. */
export const REDACTED = '[redacted]'

/** The facts about services that redaction needs. */
export interface Redaction {
  /**
   * Returns true if a field contains a secret or a credential, even if its own descriptor does not mark it.
   */
  isSecret(field: DescField): boolean
  /** The types that a google.protobuf.Any can contain. */
  readonly types: Registry
}

/** Returns true if a field is marked `(ashlar.api.v1.field).secret`. */
export const isMarkedSecret = (field: DescField): boolean => fieldMarks(field).isSecret

/** A message without its secrets. */
export interface Cleared<M extends Message = Message> {
  readonly message: M
  /** False if an unreadable google.protobuf.Any was emptied completely. */
  readonly isWhole: boolean
}

/** The maximum nesting depth of google.protobuf.Any values. */
const MAX_ANYS = 20

/**
 * Returns the message without the values of secret and INPUT_ONLY fields at any depth, including inside a
 * google.protobuf.Any. Used for stored messages. Returns a copy, or the message itself if its type cannot
 * contain secrets.
 */
export function withoutSecrets(redaction: Redaction, desc: DescMessage, message: Message): Cleared {
  if (!mayHoldSecret(redaction, desc, new Set())) return { message, isWhole: true }
  const copy = clone(desc, message)
  return { message: copy, isWhole: clear(redaction, reflect(desc, copy), 0) }
}

const isWithheld = (redaction: Redaction, field: DescField): boolean =>
  redaction.isSecret(field) || behaves(field, 'INPUT_ONLY')

function mayHoldSecret(redaction: Redaction, desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (desc.typeName === AnySchema.typeName) return true
  if (seen.has(desc) || isOpaque(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) =>
      isWithheld(redaction, field) ||
      (field.message !== undefined && mayHoldSecret(redaction, field.message, seen)),
  )
}

/** Clears the secrets in a message. Returns true if all of it was readable. */
function clear(redaction: Redaction, message: ReflectMessage, depth: number): boolean {
  if (message.desc.typeName === AnySchema.typeName) return clearAny(redaction, message.message as Any, depth)
  if (isOpaque(message.desc)) return true
  let isWhole = true
  for (const field of message.fields) {
    if (isWithheld(redaction, field)) message.clear(field)
    else if (message.isSet(field))
      for (const inner of messagesIn(message, field)) isWhole = clear(redaction, inner, depth) && isWhole
  }
  return isWhole
}

function clearAny(redaction: Redaction, any: Any, depth: number): boolean {
  if (any.value.length === 0) return true
  const desc = typeOf(redaction, any)
  if (desc !== undefined && !mayHoldSecret(redaction, desc, new Set())) return true
  const inner = desc === undefined || depth === MAX_ANYS ? undefined : contentOf(desc, any)
  if (desc === undefined || inner === undefined) {
    any.value = new Uint8Array()
    return false
  }
  const isWhole = clear(redaction, reflect(desc, inner), depth + 1)
  any.value = toBinary(desc, inner)
  return isWhole
}

function messagesIn(message: ReflectMessage, field: DescField): Iterable<ReflectMessage> {
  if (field.fieldKind === 'message') return [message.get(field)]
  if (field.fieldKind === 'list' && field.listKind === 'message')
    return message.get(field) as Iterable<ReflectMessage>
  if (field.fieldKind === 'map' && field.mapKind === 'message')
    return message.get(field).values() as Iterable<ReflectMessage>
  return []
}

const typeOf = ({ types }: Redaction, { typeUrl }: Any): DescMessage | undefined =>
  types.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))

function contentOf(desc: DescMessage, { value }: Any): Message | undefined {
  try {
    return fromBinary(desc, value)
  } catch {
    return undefined
  }
}

/** Returns true for types with free-form content, which have no fields that could be marked secret. */
const isOpaque = (desc: DescMessage): boolean => shapeOf(desc) !== undefined

/**
 * Describes the number of keys or elements in free-form content. Generated code represents a Struct as plain
 * JSON.
 */
function sizeOf(message: object): string {
  const held = '$typeName' in message ? message : { fields: message }
  if ('kind' in held) {
    const { value } = (held as Value).kind
    return typeof value === 'object' ? sizeOf(value) : '[value]'
  }
  return 'values' in held
    ? `(${(held as ListValue).values.length} elements)`
    : `(${Object.keys((held as Struct).fields).length} keys)`
}

const MAX_CHARACTERS = 256
const MAX_ELEMENTS = 20
const MAX_DEPTH = 10
const MAX_VALUES = 1000

/**
 * Returns a message as a plain object for the log, with proto field names and without zero values. Secrets,
 * INPUT_ONLY fields, filters, search terms and fields marked `debug_redact` are replaced at any depth,
 * including inside a google.protobuf.Any. Bytes are replaced by their length. Long strings and lists, deep
 * nesting and everything after 1,000 values are truncated.
 */
export function redactMessage(redaction: Redaction, desc: DescMessage, message: Message): unknown {
  return messageIn({ redaction, values: MAX_VALUES }, desc, message, 0)
}

type Plain = Record<string, unknown>

interface Walk {
  readonly redaction: Redaction
  /** The number of values that may still be added. */
  values: number
}

function messageIn(walk: Walk, desc: DescMessage, message: object, depth: number): unknown {
  const { typeName } = desc
  if (typeName === TimestampSchema.typeName) return plainValue(toDate(message as Timestamp))
  if (typeName === AnySchema.typeName) return anyIn(walk, message as Any, depth)
  return isOpaque(desc) ? sizeOf(message) : Object.fromEntries(entriesIn(walk, desc, message, depth))
}

function entriesIn(walk: Walk, desc: DescMessage, message: object, depth: number): [string, unknown][] {
  const entries: [string, unknown][] = []
  for (const field of desc.fields) {
    const value = valueOf(field, message as Plain)
    if (!isZero(value)) entries.push([field.name, fieldIn(walk, field, value, depth)])
  }
  return entries
}

function anyIn(walk: Walk, any: Any, depth: number): unknown {
  const desc = typeOf(walk.redaction, any)
  const inner = desc === undefined ? undefined : contentOf(desc, any)
  const type = ['@type', plainValue(any.typeUrl)]
  if (desc === undefined || inner === undefined)
    return Object.fromEntries([type, ['value', plainValue(any.value)]]) as Plain
  const shown = depth >= MAX_DEPTH ? '[deep]' : messageIn(walk, desc, inner, depth + 1)
  return Object.fromEntries(
    isObject(shown) ? [type, ...Object.entries(shown)] : [type, ['value', shown]],
  ) as Plain
}

/** Returns the value of a field. In a oneof, only the selected member has one. */
function valueOf(field: DescField, message: Plain): unknown {
  if (field.oneof === undefined) return message[field.localName]
  const chosen = message[field.oneof.localName] as
    { readonly case?: string; readonly value?: unknown } | undefined
  return chosen?.case === field.localName ? chosen.value : undefined
}

function fieldIn(walk: Walk, field: DescField, value: unknown, depth: number): unknown {
  if (field.proto.options?.debugRedact === true || isWithheld(walk.redaction, field) || isFilter(field))
    return REDACTED
  const one = (element: unknown): unknown => {
    if (walk.values-- <= 0) return '[cut]'
    if (field.enum !== undefined) return field.enum.value[element as number]?.name ?? plainValue(element)
    if (field.message === undefined || !isObject(element)) return plainValue(element)
    return depth >= MAX_DEPTH ? '[deep]' : messageIn(walk, field.message, element, depth + 1)
  }
  if (field.fieldKind === 'list' && Array.isArray(value)) return firstOf(value, one)
  if (field.fieldKind === 'map' && isObject(value)) return firstEntriesOf(value, one)
  return one(value)
}

/**
 * Returns true for a filter or search field. Its value may contain the content of a secret or withheld field.
 * Applications choose the names of their methods, so a word in the field's name decides. A resource that is
 * called a query, such as a saved one, is shown, but not the text in it.
 */
const isFilter = ({ name, fieldKind, scalar, message }: DescField): boolean => {
  if (!FILTER.test(name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_'))) return false
  if (message !== undefined) return fieldKind === 'map' || !hasOption(message, resource)
  return fieldKind === 'map' || scalar === ScalarType.STRING || scalar === ScalarType.BYTES
}

const FILTER = /(?:^|_)(?:filters?|q|query|queries|search|searches)(?:_|$)/i

function firstOf(values: readonly unknown[], show: (value: unknown) => unknown): unknown[] {
  const shown = values.slice(0, MAX_ELEMENTS).map(show)
  return values.length > MAX_ELEMENTS ? [...shown, `… ${values.length - MAX_ELEMENTS} more`] : shown
}

function firstEntriesOf(map: object, show: (value: unknown) => unknown): Plain {
  const entries = Object.entries(map)
  const shown = entries.slice(0, MAX_ELEMENTS).map(([key, value]) => [cut(key), show(value)])
  if (entries.length > MAX_ELEMENTS) shown.push(['…', `${entries.length - MAX_ELEMENTS} more`])
  return Object.fromEntries(shown) as Plain
}

/** Returns a JSON value. An object without a descriptor is not expanded. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `(${value.length} bytes)`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  return isObject(value) ? '[object]' : value
}

const cut = (text: string): string =>
  text.length > MAX_CHARACTERS
    ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… (${text.length} characters)`
    : text

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof Date)

function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === 0n || value === false)
    return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  // An empty map. Messages always have their type name.
  return isObject(value) && Object.keys(value).length === 0
}
