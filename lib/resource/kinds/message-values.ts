import {
  create,
  fromJson,
  toJson,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import { InvalidArgument } from '../../errors.js'
import { kindOfMessage } from './declared-kind.js'
import type { JsonColumn } from './kind.js'
import { freeForm } from './json.js'
import {
  jsonOfList,
  jsonOfValue,
  listOfJson,
  shapeOf,
  shapeOfField,
  valueOfJson,
} from '../free-form/shape.js'
import { type Choice, getField, isUnwrapped, type Local, setField } from '../messages/local-field.js'

/** Converts a value. */
type Convert = (value: unknown) => unknown
const same: Convert = (value) => value

/**
 * Returns the conversion of one singular value from a message; `plain` removes `$typeName` from embedded
 * objects.
 */
function singularFrom(message: DescMessage | undefined): Convert {
  const { fromWire } = kindOfMessage(message) ?? {}
  if (fromWire !== undefined) return fromWire
  const shape = shapeOf(message)
  if (shape !== undefined) return (FREE_FORM[shape].from as Convert | undefined) ?? same
  if (message === undefined) return same
  if (isWrapperDesc(message)) return (value) => (value as Local)['value']
  return (value) => plainOf(message, value as Message)
}

function singularTo(message: DescMessage | undefined): Convert {
  const { toWire } = kindOfMessage(message) ?? {}
  if (toWire !== undefined) return toWire
  const shape = shapeOf(message)
  if (shape !== undefined) return (FREE_FORM[shape].to as Convert | undefined) ?? same
  if (message === undefined) return same
  if (isWrapperDesc(message)) return (value) => create(message, { value })
  return (value) => messageOf(message, value as object)
}

/** Generated code represents a google.protobuf.Struct as plain JSON. */
const FREE_FORM = {
  object: { from: undefined, to: undefined },
  array: { from: jsonOfList, to: listOfJson },
  any: { from: jsonOfValue, to: valueOfJson },
} as const

/** Returns the conversion of a message field's value to the entity's; undefined if none is needed. */
export const fromMessageField = (field: DescField): Convert | undefined => orNothing(converterFrom(field))

/** Returns the conversion of an entity's value to the message field's; undefined if none is needed. */
export const toMessageField = (field: DescField): Convert | undefined => orNothing(converterTo(field))

const orNothing = (convert: Convert): Convert | undefined => (convert === same ? undefined : convert)

function converterFrom(field: DescField): Convert {
  if (isUnwrapped(field)) return same
  const one = singularFrom(field.message)
  if (field.fieldKind === 'list')
    return one === same ? (value) => [...(value as unknown[])] : (value) => (value as unknown[]).map(one)
  if (field.fieldKind === 'map') return (value) => mapValues(value as object, one)
  return one
}

function converterTo(field: DescField): Convert {
  if (isUnwrapped(field)) return same
  const one = singularTo(field.message)
  if (field.fieldKind === 'list') return one === same ? same : (value) => (value as unknown[]).map(one)
  if (field.fieldKind === 'map')
    return one === same ? (value) => ({ ...(value as object) }) : (value) => mapValues(value as object, one)
  return one
}

const mapValues = (value: object, convert: Convert): object =>
  Object.fromEntries(Object.entries(value).map(([key, element]) => [key, convert(element)]))

/** Converts an embedded message to a plain object with Dates, bigints and arrays, and without `$typeName`. */
function plainOf(desc: DescMessage, message: Message): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const field of desc.fields) {
    const value = getField(message, field)
    if (value !== undefined) plain[field.localName] = converterFrom(field)(value)
  }
  return plain
}

function messageOf(desc: DescMessage, plain: object): Message {
  const message = create(desc)
  for (const field of desc.fields) {
    const value = (plain as Record<string, unknown>)[field.localName]
    if (value === undefined || value === null) continue
    const chosen = field.oneof && ((message as Local)[field.oneof.localName] as Choice).case
    if (chosen !== undefined) throw new TypeError(`${chosen} and ${field.localName} are members of a oneof`)
    setField(message, field, converterTo(field)(value))
  }
  return message
}

/**
 * Returns the proto3 JSON conversions of a repeated, map or embedded field, so that the column preserves
 * 64-bit integers, bytes and times.
 */
export function jsonColumnOf(field: DescField): JsonColumn {
  const shape = shapeOfField(field)
  if (shape !== undefined) return freeForm(shape)
  const { parent } = field
  const to = converterTo(field)
  const from = converterFrom(field)
  const { jsonName } = field
  return {
    encode(value) {
      try {
        const message = create(parent)
        setField(message, field, to(value))
        const json = toJson(parent, message) as Record<string, JsonValue>
        return JSON.stringify(json[jsonName] ?? (field.fieldKind === 'list' ? [] : {}))
      } catch (error) {
        throw new InvalidArgument(field.name, 'is not a value of the type its message declares', error)
      }
    },
    decode(text) {
      const message = fromJson(
        parent,
        { [jsonName]: JSON.parse(text) as JsonValue },
        { ignoreUnknownFields: true },
      )
      return from(getField(message, field))
    },
  }
}
