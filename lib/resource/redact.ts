import { getOption, hasOption, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { StructSchema, TimestampSchema, type Timestamp } from '@bufbuild/protobuf/wkt'
import { field as fieldOption } from '../gen/ashlar/api/v1/annotations_pb.js'
import type { Field } from './field.js'
import type { ResourceModel } from './resource-model.js'
import { toDate } from './wire-values.js'

/** What stands in a log where a secret was. */
export const REDACTED = '[redacted]'

/** Whether a field holds a secret that its own descriptor does not speak of. */
export type IsSecret = (field: DescField) => boolean

const MAX_CHARACTERS = 256
const MAX_ELEMENTS = 20
const MAX_DEPTH = 10
const MAX_VALUES = 1000

/**
 * A message as a plain object for the log, under proto field names and without zero values. Fields marked
 * `(ashlar.api.v1.field).secret` or `debug_redact`, and those `isSecret` names, are replaced wherever they stand; bytes are
 * shown by their length; long texts and lists, deep nesting and what is more than 1000 values are cut.
 */
export function redactMessage(desc: DescMessage, message: Message, isSecret: IsSecret = never): Plain {
  return messageIn({ isSecret, values: MAX_VALUES }, desc, message, 0)
}

/** An entity as {@link redactMessage} shows a message. Properties that are in no message are left out. */
export function redactEntity(model: ResourceModel, entity: object): Plain {
  const walk = { isSecret: never, values: MAX_VALUES }
  const byLocalName = new Map(model.message?.fields.map((field) => [field.localName, field]))
  const values = entity as Readonly<Record<string, unknown>>
  const shown = model.entityFields
    .filter((field) => field.exposed && !isZero(values[field.property]))
    .map((field) => [
      field.proto,
      entityValue(walk, field, byLocalName.get(field.property), values[field.property]),
    ])
  const secrets = [...model.secrets, ...model.credentials]
    .filter(({ property }) => !isZero(values[property]))
    .map(({ proto }) => [proto, REDACTED])
  return Object.fromEntries([...shown, ...secrets]) as Plain
}

/** Tells which message fields are secrets or credentials of these resources, for {@link redactMessage}. */
export function secretFieldsOf(models: Iterable<ResourceModel>): IsSecret {
  const names = new Set<string>()
  for (const { message, secrets, credentials } of models) {
    if (message === undefined) continue
    for (const { proto } of [...secrets, ...credentials]) names.add(`${message.typeName}.${proto}`)
  }
  return (field) => names.has(`${field.parent.typeName}.${field.name}`)
}

type Plain = Record<string, unknown>

interface Walk {
  readonly isSecret: IsSecret
  /** How many more may be shown. */
  values: number
}

const never: IsSecret = () => false

function messageIn(walk: Walk, desc: DescMessage, message: object, depth: number): Plain {
  const entries: [string, unknown][] = []
  for (const field of desc.fields) {
    const value = valueOf(field, message as Plain)
    if (!isZero(value)) entries.push([field.name, fieldIn(walk, field, value, depth)])
  }
  return Object.fromEntries(entries)
}

/** Of a oneof's members the chosen one has a value. */
function valueOf(field: DescField, message: Plain): unknown {
  if (field.oneof === undefined) return message[field.localName]
  const chosen = message[field.oneof.localName] as
    { readonly case?: string; readonly value?: unknown } | undefined
  return chosen?.case === field.localName ? chosen.value : undefined
}

function fieldIn(walk: Walk, field: DescField, value: unknown, depth: number): unknown {
  if (isMarked(field) || walk.isSecret(field)) return REDACTED
  const one = (element: unknown): unknown => {
    if (walk.values-- <= 0) return '[cut]'
    if (field.enum !== undefined) return field.enum.value[element as number]?.name ?? plainValue(element)
    const isEmbedded = field.message !== undefined && isObject(element)
    if (!isEmbedded) return plainValue(element)
    if (depth >= MAX_DEPTH) return '[deep]'
    if (field.message.typeName === TimestampSchema.typeName) return plainValue(toDate(element as Timestamp))
    // What a Struct holds is anybody's own: there are no fields to tell a secret by.
    if (field.message.typeName === StructSchema.typeName) return '[struct]'
    return messageIn(walk, field.message, element, depth + 1)
  }
  if (field.fieldKind === 'list' && Array.isArray(value)) return firstOf(value, one)
  if (field.fieldKind === 'map' && isObject(value)) return firstEntriesOf(value, one)
  return one(value)
}

const isMarked = (field: DescField): boolean =>
  field.proto.options?.debugRedact === true ||
  (hasOption(field, fieldOption) && getOption(field, fieldOption).secret)

function entityValue(walk: Walk, field: Field, inMessage: DescField | undefined, value: unknown): unknown {
  if (inMessage !== undefined) return fieldIn(walk, inMessage, value, 0)
  if (field.kind === 'tags' && isObject(value)) return firstEntriesOf(value, plainValue)
  if (field.kind === 'enum') return field.enumNames?.nameOf.get(value as number) ?? plainValue(value)
  return plainValue(value)
}

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

/** A value that JSON can carry. An object nobody described is not opened. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `(${value.length} bytes)`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  return isObject(value) ? '[object]' : value
}

const cut = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)` : text

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof Date)

function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === 0n || value === false)
    return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  // A map; messages always have their type name.
  return isObject(value) && Object.keys(value).length === 0
}
