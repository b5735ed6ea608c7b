import {
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type ScalarType,
} from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { InvalidArgument } from '../../errors.js'
import { wireTypeOf } from './scalar-writers.js'

/**
 * The most fields of a request that its types do not have. They are kept, as protobuf says, and each takes
 * two bytes of the request and a hundred of memory.
 */
export const MOST_UNKNOWN_FIELDS = 10_000
/** The fewest bytes of a field: those of its tag, and one of its value. */
const LEAST_BYTES = 2
/** The deepest message that `fromBinary` reads. */
const MOST_LEVELS = 100
/** The most bytes of a number. */
const VARINT_BYTES = 10

/**
 * The request that the bytes are.
 * @throws InvalidArgument where they are not well-formed, and for more than {@link MOST_UNKNOWN_FIELDS}
 * fields that its types do not have.
 */
export const readRequest = (type: DescMessage, bytes: Uint8Array): Message => {
  try {
    if (bytes.length > LEAST_BYTES * MOST_UNKNOWN_FIELDS) new UnknownFields(bytes).count(type)
    return fromBinary(type, bytes)
  } catch (error) {
    if (error instanceof InvalidArgument) throw error
    throw new InvalidArgument('', `the request is not a well-formed ${type.typeName}`, error)
  }
}

/**
 * Counts fields that no type has, and makes nothing of any. It reads each field where `fromBinary` reads it:
 * what that would read at another place, such as a field in the encoding of another type, is refused.
 */
class UnknownFields {
  readonly #bytes: Uint8Array
  #at = 0
  #found = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  count(type: DescMessage): void {
    this.#message(type, this.#bytes.length, 1)
  }

  #message(type: DescMessage, end: number, level: number, group?: number): void {
    if (level > MOST_LEVELS) throw malformed()
    const fields = fieldsOf(type)
    while (this.#at < end) {
      const [number, encoding] = this.#tag()
      if (encoding === WireType.EndGroup) return this.#endGroup(number, group)
      const field = fields.get(number)
      if (field === undefined) this.#unknown(number, encoding, level)
      else this.#known(field, encoding, level)
    }
    if (group !== undefined) throw malformed()
  }

  #known(field: DescField, encoding: WireType, level: number): void {
    if (field.fieldKind === 'map') return this.#entry(field, encoding, level)
    const { message } = field
    if (message === undefined) return this.#scalar(field, encoding)
    const isGroup = 'delimitedEncoding' in field && field.delimitedEncoding
    if (encoding !== (isGroup ? WireType.StartGroup : WireType.LengthDelimited)) throw malformed()
    if (isGroup) this.#message(message, Number.POSITIVE_INFINITY, level + 1, field.number)
    else this.#message(message, this.#end(), level + 1)
  }

  #scalar(field: DescField & { readonly message: undefined }, encoding: WireType): void {
    const own = encodingOf(field.scalar)
    if (field.fieldKind === 'list' && encoding === WireType.LengthDelimited && encoding !== own)
      return this.#packed(own)
    if (encoding !== own) throw malformed()
    const isClosed = field.fieldKind === 'enum' && !field.enum.open
    if (!isClosed) return this.#skip(encoding)
    const value = this.#varint() | 0
    if (!field.enum.values.some(({ number }) => number === value)) this.#more()
  }

  /** Values of a list, of which the last one ends with the field. */
  #packed(encoding: WireType): void {
    const start = this.#at
    const end = this.#end()
    const isWhole =
      encoding === WireType.Varint
        ? start === end || (this.#bytes[end - 1] ?? 0) < 0x80
        : (end - this.#at) % (encoding === WireType.Bit32 ? 4 : 8) === 0
    if (!isWhole) throw malformed()
    this.#go(end)
  }

  #entry(field: DescField & { readonly fieldKind: 'map' }, encoding: WireType, level: number): void {
    if (encoding !== WireType.LengthDelimited) throw malformed()
    const end = this.#end()
    while (this.#at < end) {
      const [number, inside] = this.#tag()
      if (number === 1 || (number === 2 && field.message === undefined)) {
        const own = encodingOf(number === 1 ? field.mapKey : field.scalar)
        if (inside !== own) throw malformed()
        this.#skip(inside)
      } else if (number === 2 && field.message !== undefined) {
        if (inside !== WireType.LengthDelimited) throw malformed()
        this.#message(field.message, this.#end(), level + 1)
      } else this.#unknown(number, inside, level)
    }
  }

  #unknown(number: number, encoding: WireType, level: number): void {
    this.#more()
    if (encoding !== WireType.StartGroup) return this.#skip(encoding)
    if (level >= MOST_LEVELS) throw malformed()
    for (;;) {
      const [inside, its] = this.#tag()
      if (its === WireType.EndGroup) return this.#endGroup(inside, number)
      this.#unknown(inside, its, level + 1)
    }
  }

  #endGroup(number: number, group: number | undefined): void {
    if (number !== group) throw malformed()
  }

  #more(): void {
    if (++this.#found > MOST_UNKNOWN_FIELDS)
      throw new InvalidArgument(
        '',
        `the request has more than ${MOST_UNKNOWN_FIELDS} fields that are not known here`,
      )
  }

  #tag(): readonly [number: number, encoding: WireType] {
    const tag = this.#varint()
    return [tag >>> 3, tag & 7]
  }

  /** The length that comes next, as the place where what has it ends. */
  #end(): number {
    const length = this.#varint()
    return this.#at + length
  }

  #skip(encoding: WireType): void {
    if (encoding === WireType.Varint) this.#varint()
    else if (encoding === WireType.Bit64) this.#go(this.#at + 8)
    else if (encoding === WireType.Bit32) this.#go(this.#at + 4)
    else if (encoding === WireType.LengthDelimited) this.#go(this.#end())
    else throw malformed()
  }

  #go(place: number): void {
    if (place > this.#bytes.length) throw malformed()
    this.#at = place
  }

  /** The lowest 32 bits of a number. */
  #varint(): number {
    let value = 0
    for (let place = 0; place < VARINT_BYTES; place++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) break
      if (place < 5) value |= (byte & 0x7f) << (7 * place)
      if (byte < 0x80) return value >>> 0
    }
    throw malformed()
  }
}

const malformed = (): TypeError => new TypeError('it cannot be read')

/** How a value is encoded outside of a packed list; an enum has no scalar type. */
const encodingOf = (type: ScalarType | undefined): WireType =>
  type === undefined ? WireType.Varint : wireTypeOf(type)

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>()

const fieldsOf = (type: DescMessage): ReadonlyMap<number, DescField> => {
  let fields = known.get(type)
  if (fields === undefined) {
    fields = new Map(type.fields.map((field) => [field.number, field]))
    known.set(type, fields)
  }
  return fields
}
