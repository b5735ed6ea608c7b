import { ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.js'

/** Writes one value; throws for one that is of another type or out of range. */
export type Write = (value: unknown, out: ByteWriter) => void

/** The wire types of protobuf: what follows a tag. */
export const WIRE = { varint: 0, bit64: 1, length: 2, startGroup: 3, endGroup: 4, bit32: 5 } as const

export const tagOf = (number: number, wireType: number): number => ((number << 3) | wireType) >>> 0

/** One scalar type: what follows its tag, how a value is written, and which value is not written where there is no presence. */
export interface Scalar {
  readonly wireType: number
  readonly write: Write
  readonly isZero: (value: unknown) => boolean
}

const unfit = (value: unknown, type: string): never => {
  throw new TypeError(`${typeof value} is no ${type}`)
}

const MIN_INT32 = -(2 ** 31)
const MAX_INT32 = 2 ** 31 - 1

const int32 = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= MIN_INT32 && value <= MAX_INT32
    ? value
    : unfit(value, 'int32')

const uint32 = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value < 2 ** 32 && Number.isInteger(value)
    ? value
    : unfit(value, 'uint32')

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** A 64-bit integer, which a message may also hold as text. */
const integer = (value: unknown): bigint => {
  if (typeof value === 'bigint') return value
  return typeof value === 'string' || typeof value === 'number' ? BigInt(value) : unfit(value, 'integer')
}

const int64 = (value: unknown): bigint => {
  const whole = integer(value)
  return whole >= MIN_INT64 && whole <= MAX_INT64 ? whole : unfit(value, 'int64')
}

const uint64 = (value: unknown): bigint => {
  const whole = integer(value)
  return whole >= 0n && whole < 2n ** 64n ? whole : unfit(value, 'uint64')
}

const unsigned = (value: bigint): bigint => (value < 0n ? value + 2n ** 64n : value)

const number = (value: unknown): number => (typeof value === 'number' ? value : unfit(value, 'number'))

const MAX_FLOAT = 3.4028234663852886e38

const float = (value: unknown): number =>
  Number.isFinite(value) && Math.abs(value as number) > MAX_FLOAT ? unfit(value, 'float') : number(value)

/** As protobuf-es compares: the text of a zero is one, too. */
const isNone = (value: unknown): boolean =>
  value === 0 || value === 0n || (typeof value === 'string' && Number(value) === 0)
const isPositiveZero = (value: unknown): boolean => Object.is(value, 0)

const varint = (write: Write): Scalar => ({ wireType: WIRE.varint, write, isZero: isNone })

export const SCALARS: Readonly<Record<ScalarType, Scalar>> = {
  [ScalarType.INT32]: varint((value, out) => out.int32(int32(value))),
  [ScalarType.UINT32]: varint((value, out) => out.varint(uint32(value))),
  [ScalarType.SINT32]: varint((value, out) => {
    const whole = int32(value)
    out.varint(((whole << 1) ^ (whole >> 31)) >>> 0)
  }),
  [ScalarType.INT64]: varint((value, out) => out.varint64(unsigned(int64(value)))),
  [ScalarType.UINT64]: varint((value, out) => out.varint64(uint64(value))),
  [ScalarType.SINT64]: varint((value, out) => {
    const whole = int64(value)
    out.varint64(whole < 0n ? -whole * 2n - 1n : whole * 2n)
  }),
  [ScalarType.BOOL]: {
    wireType: WIRE.varint,
    write: (value, out) => out.varint(value === true ? 1 : value === false ? 0 : unfit(value, 'bool')),
    isZero: (value) => value === false,
  },
  [ScalarType.FIXED32]: {
    wireType: WIRE.bit32,
    write: (value, out) => out.fixed32(uint32(value)),
    isZero: isNone,
  },
  [ScalarType.SFIXED32]: {
    wireType: WIRE.bit32,
    write: (value, out) => out.fixed32(int32(value)),
    isZero: isNone,
  },
  [ScalarType.FIXED64]: {
    wireType: WIRE.bit64,
    write: (value, out) => out.fixed64(uint64(value)),
    isZero: isNone,
  },
  [ScalarType.SFIXED64]: {
    wireType: WIRE.bit64,
    write: (value, out) => out.fixed64(unsigned(int64(value))),
    isZero: isNone,
  },
  [ScalarType.FLOAT]: {
    wireType: WIRE.bit32,
    write: (value, out) => out.float(float(value)),
    isZero: isPositiveZero,
  },
  [ScalarType.DOUBLE]: {
    wireType: WIRE.bit64,
    write: (value, out) => out.double(number(value)),
    isZero: isPositiveZero,
  },
  [ScalarType.STRING]: {
    wireType: WIRE.length,
    write: (value, out) => out.string(typeof value === 'string' ? value : unfit(value, 'string')),
    isZero: (value) => value === '',
  },
  [ScalarType.BYTES]: {
    wireType: WIRE.length,
    write: (value, out) => out.bytes(value instanceof Uint8Array ? value : unfit(value, 'bytes')),
    isZero: (value) => value instanceof Uint8Array && value.byteLength === 0,
  },
}
