import { isUint8Array } from 'node:util/types'
import { ScalarType } from '@bufbuild/protobuf'

/** Writes a field's value as JSON text. Throws a RangeError for a value that the field cannot contain. */
export type ScalarWriter = (value: unknown) => string

/**
 * Returns the writer for values of a type, by the proto3 JSON mapping. Values come from a handler, so their
 * types are checked. It rejects and converts the same values as `toBinary`.
 */
export function scalarWriter(type: ScalarType): ScalarWriter {
  switch (type) {
    case ScalarType.STRING:
      return (value) => (typeof value === 'string' ? quote(value) : refuse(value, 'string'))
    case ScalarType.BOOL:
      return (value) => (typeof value === 'boolean' ? String(value) : refuse(value, 'bool'))
    case ScalarType.BYTES:
      return (value) => (isUint8Array(value) ? `"${base64(value)}"` : refuse(value, 'bytes'))
    case ScalarType.FLOAT:
      return (value) => writeNumber(floatOf(value), shortestFloat)
    case ScalarType.DOUBLE:
      return (value) => writeNumber(numberOf(value, 'double'), String)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (value) => writeInteger(value, 0, 0xffff_ffff, 'uint32')
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return writeInt32
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return (value) => `"${writeLong(value, -0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn, 'int64')}"`
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => `"${writeLong(value, 0n, 0xffff_ffff_ffff_ffffn, 'uint64')}"`
  }
}

/** Writes an int32, which is also the range of enum numbers. */
export const writeInt32: ScalarWriter = (value) => writeInteger(value, -0x8000_0000, 0x7fff_ffff, 'int32')

/**
 * Returns the writer for map keys. Keys of JavaScript objects are strings, so only the canonical form of the
 * key type is accepted.
 */
export function mapKeyWriter(type: ScalarType): (key: string) => string {
  if (type === ScalarType.STRING) return quote
  const write = scalarWriter(type)
  return (key) => {
    const text = type === ScalarType.BOOL ? boolText(key) : write(key)
    return text === key ? `"${key}"` : text === `"${key}"` ? text : refuse(key, 'map key')
  }
}

const boolText = (key: string): string => (key === 'true' || key === 'false' ? key : '')

const ESCAPED = /["\\\u0000-\u001f\u007f\u2028\u2029\ud800-\udfff]/

/** Writes a JSON string. A lone surrogate becomes U+FFFD, as in a protobuf message. */
export const quote = (text: string): string =>
  ESCAPED.test(text) ? JSON.stringify(text.toWellFormed()) : `"${text}"`

/** Writes a finite number of a google.protobuf.Value. */
export function writeFinite(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) return refuse(value, 'finite number')
  return writeNumber(value, String)
}

/**
 * Throws an error that shows the invalid value to the operator. The caller receives only `internal error`.
 */
export function refuse(value: unknown, what: string): never {
  const given = typeof value === 'number' || typeof value === 'bigint' ? String(value) : kindOf(value)
  throw new RangeError(`expected ${what}, got ${given}`)
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value

function writeInteger(value: unknown, min: number, max: number, what: string): string {
  const number = numberOf(value, what)
  return Number.isInteger(number) && number >= min && number <= max ? String(number) : refuse(value, what)
}

function writeLong(value: unknown, min: bigint, max: bigint, what: string): string {
  const long = typeof value === 'bigint' ? value : longOf(value)
  return long !== undefined && long >= min && long <= max ? String(long) : refuse(value, what)
}

/** Converts a string or number to a bigint. Fields with `jstype = JS_STRING` contain digits. */
function longOf(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return BigInt(value)
  } catch {
    return undefined
  }
}

function numberOf(value: unknown, what: string): number {
  if (typeof value === 'number') return value
  const number = typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isNaN(number) && value !== 'NaN' ? refuse(value, what) : number
}

function floatOf(value: unknown): number {
  const number = numberOf(value, 'float')
  const float = Math.fround(number)
  return Number.isFinite(number) && !Number.isFinite(float) ? refuse(value, 'float') : float
}

function writeNumber(value: number, spell: (value: number) => string): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : spell(value)
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"'
}

/** Returns the shortest notation that is parsed as the same 32-bit float. */
function shortestFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 16_777_216) return String(value)
  for (let precision = 6; precision < 9; precision++) {
    const short = Number(value.toPrecision(precision))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
