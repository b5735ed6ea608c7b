import { ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.js'

/** Writes one value. Throws if the value has the wrong type or is out of range. */
export type Write = (value: unknown, out: ByteWriter) => void

/** Protobuf's wire types, which determine the encoding after a tag. */
export const WIRE = { varint: 0, bit64: 1, length: 2, startGroup: 3, endGroup: 4, bit32: 5 } as const

export const tagOf = (number: number, wireType: number): number => ((number << 3) | wireType) >>> 0

export const wireTypeOf = (type: ScalarType): number => {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WIRE.length
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WIRE.bit64
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WIRE.bit32
    default:
      return WIRE.varint
  }
}

/** Returns true for the zero value, which is not written for a field without presence. */
export const isZero = (type: ScalarType, value: unknown): boolean => {
  switch (type) {
    case ScalarType.STRING:
      return value === ''
    case ScalarType.BOOL:
      return value === false
    case ScalarType.BYTES:
      return value instanceof Uint8Array && value.byteLength === 0
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return Object.is(value, 0)
    default:
      // Compared as in protobuf-es, where a string that is a zero counts as zero.
      return value === 0 || value === 0n || (typeof value === 'string' && Number(value) === 0)
  }
}

/** Writes a value without a tag. Bitwise operators check quickly whether a number is a 32-bit integer. */
export const writeScalar = (type: ScalarType, value: unknown, out: ByteWriter): void => {
  switch (type) {
    case ScalarType.STRING:
      return typeof value === 'string' ? out.string(value) : unfit(value)
    case ScalarType.BYTES:
      return value instanceof Uint8Array ? out.bytes(value) : unfit(value)
    case ScalarType.BOOL:
      return typeof value === 'boolean' ? out.varint(value ? 1 : 0) : unfit(value)
    case ScalarType.INT32:
      if (((value as number) | 0) !== value) return unfit(value)
      return value >= 0 ? out.varint(value) : out.varint64(unsigned(BigInt(value)))
    case ScalarType.UINT32:
      return (value as number) >>> 0 === value ? out.varint(value) : unfit(value)
    case ScalarType.SINT32:
      return ((value as number) | 0) === value
        ? out.varint(((value << 1) ^ (value >> 31)) >>> 0)
        : unfit(value)
    case ScalarType.FIXED32:
      return (value as number) >>> 0 === value ? out.fixed32(value) : unfit(value)
    case ScalarType.SFIXED32:
      return ((value as number) | 0) === value ? out.fixed32(value) : unfit(value)
    case ScalarType.INT64:
      return out.varint64(unsigned(int64(value)))
    case ScalarType.UINT64:
      return out.varint64(uint64(value))
    case ScalarType.SINT64:
      return out.varint64(zigzag(int64(value)))
    case ScalarType.FIXED64:
      return out.fixed64(uint64(value))
    case ScalarType.SFIXED64:
      return out.fixed64(unsigned(int64(value)))
    case ScalarType.FLOAT:
      return isFloat(value) ? out.float(value) : unfit(value)
    case ScalarType.DOUBLE:
      return typeof value === 'number' ? out.double(value) : unfit(value)
  }
}

/** @throws TypeError, always. */
export const unfit = (value: unknown): never => {
  throw new TypeError(`${typeof value} is not of the type of its field`)
}

const MAX_FLOAT = 3.4028234663852886e38

const isFloat = (value: unknown): value is number =>
  typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) <= MAX_FLOAT)

/** Returns a 64-bit integer, which a message may also contain as a string. */
const integer = (value: unknown): bigint => {
  if (typeof value === 'bigint') return value
  return typeof value === 'string' || typeof value === 'number' ? BigInt(value) : unfit(value)
}

const int64 = (value: unknown): bigint => {
  const whole = integer(value)
  return whole >= -(2n ** 63n) && whole < 2n ** 63n ? whole : unfit(value)
}

const uint64 = (value: unknown): bigint => {
  const whole = integer(value)
  return whole >= 0n && whole < 2n ** 64n ? whole : unfit(value)
}

const unsigned = (value: bigint): bigint => (value < 0n ? value + 2n ** 64n : value)

const zigzag = (value: bigint): bigint => (value < 0n ? -value * 2n - 1n : value * 2n)
