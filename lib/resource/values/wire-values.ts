import {
  create,
  fromJson,
  toJson,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf'
import { DurationSchema, TimestampSchema, type Duration, type Timestamp } from '@bufbuild/protobuf/wkt'
import { InvalidArgument } from '../../errors.js'
import type { FieldKind } from '../fields/field.js'

const NANOS = 1_000_000_000n

/** Timestamp message → Date; fractions of a millisecond are cut. */
export const toDate = (value: Timestamp): Date =>
  new Date(Number(value.seconds) * 1000 + Math.floor(value.nanos / 1_000_000))

/** Date → Timestamp message. */
export function toTimestamp(value: Date): Timestamp {
  const ms = value.getTime()
  const seconds = Math.floor(ms / 1000)
  return {
    $typeName: TimestampSchema.typeName,
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1000) * 1_000_000,
  } as Timestamp
}

/** Duration message → nanoseconds. */
export const toNanoseconds = (value: Duration): bigint => value.seconds * NANOS + BigInt(value.nanos)

/** Nanoseconds → Duration message; both parts carry the sign. */
export const toDuration = (value: bigint): Duration =>
  ({ $typeName: DurationSchema.typeName, seconds: value / NANOS, nanos: Number(value % NANOS) }) as Duration

/** Converts a value. */
type Convert = (value: unknown) => unknown
const same: Convert = (value) => value

/** The conversion of one singular value from a message; `plain` removes `$typeName` from embedded objects. */
function singularFrom(kind: FieldKind, message: DescMessage | undefined): Convert {
  if (kind === 'timestamp') return toDate as Convert
  if (kind === 'duration') return toNanoseconds as Convert
  return message === undefined ? same : (value) => plainOf(message, value as Message)
}

function singularTo(kind: FieldKind, message: DescMessage | undefined): Convert {
  if (kind === 'timestamp') return toTimestamp as Convert
  if (kind === 'duration') return toDuration as Convert
  return message === undefined ? same : (value) => messageOf(message, value as object)
}

/** The kind of an element of a repeated or map field, as far as the conversion needs it. */
const elementKind = (message: DescMessage | undefined): FieldKind =>
  message?.typeName === TimestampSchema.typeName
    ? 'timestamp'
    : message?.typeName === DurationSchema.typeName
      ? 'duration'
      : 'json'

/** Message field value → entity value; undefined when no conversion is needed. */
export const fromMessageField = (field: DescField): Convert | undefined => orNothing(converterFrom(field))

/** Entity value → message field value; undefined when no conversion is needed. */
export const toMessageField = (field: DescField): Convert | undefined => orNothing(converterTo(field))

const orNothing = (convert: Convert): Convert | undefined => (convert === same ? undefined : convert)

function converterFrom(field: DescField): Convert {
  const one = singularFrom(elementKind(field.message), field.message)
  if (field.fieldKind === 'list')
    return one === same ? (value) => [...(value as unknown[])] : (value) => (value as unknown[]).map(one)
  if (field.fieldKind === 'map') return (value) => mapValues(value as object, one)
  return one
}

function converterTo(field: DescField): Convert {
  const one = singularTo(elementKind(field.message), field.message)
  if (field.fieldKind === 'list') return one === same ? same : (value) => (value as unknown[]).map(one)
  if (field.fieldKind === 'map')
    return one === same ? (value) => ({ ...(value as object) }) : (value) => mapValues(value as object, one)
  return one
}

const mapValues = (value: object, convert: Convert): object =>
  Object.fromEntries(Object.entries(value).map(([key, element]) => [key, convert(element)]))

/** An embedded message as the plain object of an entity: Dates, bigints and arrays, no `$typeName`. */
function plainOf(desc: DescMessage, message: Message): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const field of desc.fields) {
    const value = (message as unknown as Record<string, unknown>)[field.localName]
    if (value !== undefined) plain[field.localName] = converterFrom(field)(value)
  }
  return plain
}

function messageOf(desc: DescMessage, plain: object): Message {
  const init: Record<string, unknown> = {}
  for (const field of desc.fields) {
    const value = (plain as Record<string, unknown>)[field.localName]
    if (value !== undefined && value !== null) init[field.localName] = converterTo(field)(value)
  }
  return create(desc, init)
}

/** JSON text of a column ↔ entity value. */
export interface JsonColumn {
  /** @throws InvalidArgument when the value is not what the field holds. */
  readonly encode: (value: unknown) => string
  readonly decode: (text: string) => unknown
}

/** Plain JSON, for columns without a message type. */
export const PLAIN_JSON: JsonColumn = {
  encode: (value) => JSON.stringify(value),
  decode: (text) => JSON.parse(text) as unknown,
}

/**
 * A map of texts. Values of other writers are read as filters see them: a number, a boolean or an object as its JSON
 * text, null as no tag. A value that is not an object has no tags.
 */
export const TAGS_JSON: JsonColumn = {
  encode: (value) => JSON.stringify(value),
  decode: (text) => {
    const tags = JSON.parse(text) as unknown
    if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return {}
    const entries = Object.entries(tags)
    if (entries.every(([, value]) => typeof value === 'string')) return tags
    return Object.fromEntries(
      entries.flatMap(([key, value]) =>
        value === null ? [] : [[key, typeof value === 'string' ? value : JSON.stringify(value)]],
      ),
    )
  },
}

/** The proto3 JSON of a repeated, map or embedded field, so that the column keeps 64-bit integers, bytes and times. */
export function jsonColumnOf(parent: DescMessage, field: DescField): JsonColumn {
  const to = converterTo(field)
  const from = converterFrom(field)
  const { localName, jsonName } = field
  return {
    encode(value) {
      try {
        const json = toJson(parent, create(parent, { [localName]: to(value) })) as Record<string, JsonValue>
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
      return from((message as unknown as Record<string, unknown>)[localName])
    },
  }
}
