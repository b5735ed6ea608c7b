import { type DescField, ScalarType } from '@bufbuild/protobuf'
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { ByteWriter } from './byte-writer.js'
import { fieldWriter } from './field-writers.js'
import { messageWriter } from './message-writer.js'
import { SCALARS, tagOf, WIRE, type Write } from './scalar-writers.js'

/** Where the value of one field of a response comes from. */
export interface Output {
  readonly field: DescField
  /** What the entity says of it; undefined or null for nothing. */
  readonly valueOf: (entity: object) => unknown
  /** Makes what a message holds of it; undefined where that is the same. */
  readonly convert: ((value: unknown) => unknown) | undefined
  /** What a message holds for nothing. */
  readonly emptyOf: () => unknown
}

/** Writes the bytes of the message of an entity. */
export type WriteEntity = (entity: object, out: ByteWriter) => void

/**
 * Writes the bytes of an entity's message without making the message: the same as those of `toBinary(toMessage(entity))`.
 * It throws for a value that is not of its field's type.
 */
export function entityWriter(outputs: readonly Output[]): WriteEntity {
  const fields = outputs
    .toSorted((one, other) => one.field.number - other.field.number)
    .map(({ field, valueOf, convert, emptyOf }) => {
      const isDirect = field.message === undefined || DIRECT.has(field.message.typeName)
      const write = fieldWriter(field, (desc) => DIRECT.get(desc.typeName) ?? messageWriter(desc))
      return { valueOf, convert: isDirect ? undefined : convert, emptyOf, write }
    })
  return (entity, out) => {
    for (let index = 0; index < fields.length; index++) {
      const { valueOf, convert, emptyOf, write } = fields[index] as (typeof fields)[number]
      const value = valueOf(entity)
      if (value === undefined || value === null) write(emptyOf(), out)
      else write(convert === undefined ? value : convert(value), out)
    }
  }
}

const SECONDS = tagOf(1, WIRE.varint)
const NANOS = tagOf(2, WIRE.varint)

/** google.protobuf.Timestamp of a Date. */
const timestamp: Write = (value, out) => {
  const ms = (value as Date).getTime()
  if (Number.isNaN(ms)) throw new TypeError('the time is invalid')
  const seconds = Math.floor(ms / 1000)
  if (seconds !== 0) {
    out.varint(SECONDS)
    if (seconds > 0) out.varint(seconds)
    else out.varint64(BigInt.asUintN(64, BigInt(seconds)))
  }
  const nanos = (ms - seconds * 1000) * 1_000_000
  if (nanos === 0) return
  out.varint(NANOS)
  out.varint(nanos)
}

/** google.protobuf.Duration of nanoseconds. */
const duration: Write = (value, out) => {
  const seconds = (value as bigint) / 1_000_000_000n
  if (seconds !== 0n) {
    out.varint(SECONDS)
    SCALARS[ScalarType.INT64].write(seconds, out)
  }
  const nanos = Number((value as bigint) % 1_000_000_000n)
  if (nanos === 0) return
  out.varint(NANOS)
  out.int32(nanos)
}

/** Messages that an entity has in another form. */
const DIRECT: ReadonlyMap<string, Write> = new Map([
  [TimestampSchema.typeName, timestamp],
  [DurationSchema.typeName, duration],
])
