import { ScalarType } from '@bufbuild/protobuf'
import { exactInteger } from './exact-integer.js'
import { JsonFault } from './fault.js'
import { type Json, JsonNumber } from './parse.js'

/** Converts a JSON value to the value of a generated message. Throws {@link JsonFault}. */
export type ScalarReader = (json: Json) => unknown

/** Returns the reader for values of a type, by the proto3 JSON mapping. */
export function scalarReader(type: ScalarType, longAsString = false): ScalarReader {
  switch (type) {
    case ScalarType.STRING:
      return readString
    case ScalarType.BOOL:
      return readBool
    case ScalarType.BYTES:
      return readBytes
    case ScalarType.FLOAT:
      return readFloat
    case ScalarType.DOUBLE:
      return readDouble
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return readInt32
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (json) => Number(integer(json, 0n, 0xffffffffn, 'an unsigned 32-bit integer'))
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return longs(-0x8000000000000000n, 0x7fffffffffffffffn, 'a 64-bit integer', longAsString)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return longs(0n, 0xffffffffffffffffn, 'an unsigned 64-bit integer', longAsString)
  }
}

/** Reads an int32, which is also the range of enum numbers. */
export const readInt32 = (json: Json): number =>
  Number(integer(json, -0x80000000n, 0x7fffffffn, 'a 32-bit integer'))

/** Describes the kind of a JSON value for error messages, never the value itself. */
export function kindOf(json: Json): string {
  if (json === null) return 'null'
  if (Array.isArray(json)) return 'an array'
  if (json instanceof JsonNumber || typeof json === 'number') return 'a number'
  if (typeof json === 'object') return 'an object'
  return typeof json === 'string' ? 'a string' : 'a boolean'
}

export const expected = (what: string, json: Json): JsonFault =>
  new JsonFault(`expected ${what}, got ${kindOf(json)}`)

const longs =
  (min: bigint, max: bigint, what: string, asString: boolean): ScalarReader =>
  (json) => {
    const value = integer(json, min, max, what)
    return asString ? value.toString() : value
  }

function integer(json: Json, min: bigint, max: bigint, what: string): bigint {
  const text = numberText(json)
  if (text === undefined) throw expected(what, json)
  const value = exactInteger(text)
  if (value === undefined || value < min || value > max) throw new JsonFault(`expected ${what}`)
  return value
}

function numberText(json: Json): string | undefined {
  if (typeof json === 'number') return String(json)
  if (json instanceof JsonNumber) return json.text
  return typeof json === 'string' ? json : undefined
}

function readString(json: Json): string {
  if (typeof json !== 'string') throw expected('a string', json)
  return json
}

function readBool(json: Json): boolean {
  if (typeof json !== 'boolean') throw expected('true or false', json)
  return json
}

const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/

/** Reads base64 in the standard or URL-safe alphabet, with or without padding. */
function readBytes(json: Json): Uint8Array {
  if (typeof json !== 'string') throw expected('a base64 string', json)
  const padding = BASE64.exec(json)?.[1]?.length
  if (padding === undefined || (padding > 0 ? json.length % 4 !== 0 : json.length % 4 === 1))
    throw new JsonFault('expected base64')
  return new Uint8Array(Buffer.from(json, 'base64'))
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const MAX_FLOAT = 3.4028235677973366e38

function readDouble(json: Json): number {
  if (json === 'NaN') return Number.NaN
  if (json === 'Infinity') return Number.POSITIVE_INFINITY
  if (json === '-Infinity') return Number.NEGATIVE_INFINITY
  if (typeof json === 'number') return json
  const text = numberText(json)
  if (text === undefined) throw expected('a number', json)
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) throw new JsonFault('expected a number in the range of a double')
  return value
}

function readFloat(json: Json): number {
  const value = readDouble(json)
  if (Number.isFinite(value) && Math.abs(value) >= MAX_FLOAT)
    throw new JsonFault('expected a number in the range of a float')
  return Math.fround(value)
}
