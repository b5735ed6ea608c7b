import { type DescField, ScalarType } from '@bufbuild/protobuf'
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { ByteWriter } from './byte-writer.js'
import { fieldWriter } from './field-writers.js'
import { messageWriter } from './message-writer.js'
import { tagOf, WIRE, type Write, writeScalar } from './scalar-writers.js'

/** The source of a response field's value. */
export interface Output {
  readonly field: DescField
  /**
   * The entity's property, or a function that computes the value; undefined for a field that is never sent.
   */
  readonly from: string | ((entity: object) => unknown) | undefined
  /** Converts the value for the message; undefined if no conversion is needed. */
  readonly convert: ((value: unknown) => unknown) | undefined
  /** The message's value for a missing one. */
  readonly empty: unknown
}

/** Writes the bytes of the message of an entity. */
export type WriteEntity = (entity: object, out: ByteWriter) => void

/** The compiled writer of one field. */
interface Part {
  readonly from: Output['from']
  readonly convert: Output['convert']
  /** The bytes for a missing value. */
  readonly absent: Uint8Array
  readonly write: Write
}

/**
 * Returns a function that writes the bytes of an entity's message without creating the message. The bytes
 * equal `toBinary(toMessage(entity))`. It throws for a value that does not have its field's type.
 */
export function entityWriter(outputs: readonly Output[]): WriteEntity {
  const parts = outputs.toSorted((one, other) => one.field.number - other.field.number).map(partOf)
  return (entity, out) => {
    for (const { from, convert, absent, write } of parts) {
      const value = typeof from === 'string' ? (entity as Values)[from] : from?.(entity)
      if (value !== undefined && value !== null) write(convert === undefined ? value : convert(value), out)
      else if (absent.length > 0) out.raw(absent)
    }
  }
}

type Values = Readonly<Record<string, unknown>>

function partOf({ field, from, convert, empty }: Output): Part {
  const isDirect =
    field.message === undefined
      ? field.fieldKind === 'list' || field.fieldKind === 'map'
      : DIRECT.has(field.message.typeName)
  const write = fieldWriter(field, (desc) => DIRECT.get(desc.typeName) ?? messageWriter(desc))
  // A member of a oneof is written even if it is zero.
  const absent = empty === undefined ? new Uint8Array() : ByteWriter.bytesOf(write, empty)
  return { from, convert: isDirect ? undefined : convert, absent, write }
}

const SECONDS = tagOf(1, WIRE.varint)
const NANOS = tagOf(2, WIRE.varint)

/** Writes a Date as google.protobuf.Timestamp. */
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

/** Writes nanoseconds as google.protobuf.Duration. */
const duration: Write = (value, out) => {
  const seconds = (value as bigint) / 1_000_000_000n
  if (seconds !== 0n) {
    out.varint(SECONDS)
    writeScalar(ScalarType.INT64, seconds, out)
  }
  const nanos = Number((value as bigint) % 1_000_000_000n)
  if (nanos === 0) return
  out.varint(NANOS)
  writeScalar(ScalarType.INT32, nanos, out)
}

/** Messages that entities represent in another form. */
const DIRECT: ReadonlyMap<string, Write> = new Map([
  [TimestampSchema.typeName, timestamp],
  [DurationSchema.typeName, duration],
])
