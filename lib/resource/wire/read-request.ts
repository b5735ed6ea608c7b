import {
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type ScalarType,
} from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { WireType } from '@bufbuild/protobuf/wire'
import { ElementCount, isElement, type MessageLimits } from '../messages/message-limits.js'
import { AshlarError, InvalidArgument } from '../../errors.js'
import { wireTypeOf } from './scalar-writers.js'

/**
 * The maximum number of unknown fields in a request. Protobuf requires that they are retained. Each may take
 * only 2 bytes of the request but about 100 bytes of memory.
 */
export const MAX_UNKNOWN_FIELDS = 10_000
/** The maximum nesting depth that `fromBinary` accepts. */
const MAX_LEVELS = 100
/** The maximum length of a varint in bytes. */
const VARINT_BYTES = 10

/**
 * Decodes a request.
 * @throws InvalidArgument if the bytes are not well-formed, for more than {@link MAX_UNKNOWN_FIELDS} unknown
 *   fields, and for more entries than a field allows.
 * @throws ResourceExhausted for more elements than the limits allow.
 */
export const readRequest = (type: DescMessage, bytes: Uint8Array, limits: MessageLimits): Message => {
  try {
    if (bytes.length > limits.uncountedBytes) new RequestCount(bytes, new ElementCount(limits)).count(type)
    return fromBinary(type, bytes)
  } catch (error) {
    if (error instanceof AshlarError) throw error
    throw new InvalidArgument('', `the request is not a well-formed ${type.typeName}`, error)
  }
}

/**
 * Counts elements and unknown fields without decoding them. It interprets each field as `fromBinary` does,
 * and rejects what `fromBinary` would read in another position, such as a field with the encoding of another
 * type.
 */
class RequestCount {
  readonly #bytes: Uint8Array
  readonly #elements: ElementCount
  /** The path of fields and list positions to the current message. */
  readonly #path: string[] = []
  #at = 0
  #found = 0

  constructor(bytes: Uint8Array, elements: ElementCount) {
    this.#bytes = bytes
    this.#elements = elements
  }

  count(type: DescMessage, level = 1): void {
    this.#message(type, this.#bytes.length, level)
  }

  /** Counts the elements in an Any, because JSON responses, logs and stored replies decode it. */
  #content(bytes: Uint8Array, level: number): void {
    const { typeUrl, value } = fromBinary(AnySchema, bytes)
    const type = this.#elements.limits.types?.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
    if (type === undefined) return
    if (level > MAX_LEVELS)
      throw new InvalidArgument(this.#path.join('.'), `has more than ${MAX_LEVELS} levels`)
    try {
      new RequestCount(value, this.#elements).count(type, level)
    } catch (error) {
      // An unreadable Any is accepted and shown without content.
      if (error instanceof AshlarError) throw error
    }
  }

  #message(type: DescMessage, end: number, level: number, group?: number): void {
    if (level > MAX_LEVELS) throw malformed()
    const fields = fieldsOf(type)
    const entries = new Map<DescField, number>()
    const start = this.#at
    while (this.#at < end) {
      const [number, encoding] = this.#tag()
      if (encoding === WireType.EndGroup) return this.#endGroup(number, group)
      const field = fields.get(number)
      if (field === undefined) this.#unknown(number, encoding, level)
      else this.#known(field, encoding, level, this.#counted(field, entries))
    }
    if (group !== undefined) throw malformed()
    if (type.typeName === AnySchema.typeName) this.#content(this.#bytes.subarray(start, end), level + 1)
  }

  /** Counts a value of a field. Returns its position in the list or map. */
  #counted(field: DescField, entries: Map<DescField, number>): number {
    if (isElement(field)) this.#elements.add()
    if (field.fieldKind !== 'list' && field.fieldKind !== 'map') return 0
    const count = (entries.get(field) ?? 0) + 1
    entries.set(field, count)
    const excess = this.#elements.excess(field, count)
    if (excess !== undefined) throw new InvalidArgument([...this.#path, field.name].join('.'), excess)
    return count - 1
  }

  /** @param index - the position in a list. */
  #known(field: DescField, encoding: WireType, level: number, index: number): void {
    if (field.fieldKind === 'map') return this.#entry(field, encoding, level)
    const { message } = field
    if (message === undefined) return this.#scalar(field, encoding)
    const isGroup = 'delimitedEncoding' in field && field.delimitedEncoding
    if (encoding !== (isGroup ? WireType.StartGroup : WireType.LengthDelimited)) throw malformed()
    this.#path.push(field.fieldKind === 'list' ? `${field.name}[${index}]` : field.name)
    if (isGroup) this.#message(message, Number.POSITIVE_INFINITY, level + 1, field.number)
    else this.#message(message, this.#end(), level + 1)
    this.#path.pop()
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

  /** Reads a packed list, whose last value must end with the field. */
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
    let values = 0
    while (this.#at < end) {
      const [number, inside] = this.#tag()
      if (number === 1 || (number === 2 && field.message === undefined)) {
        const own = encodingOf(number === 1 ? field.mapKey : field.scalar)
        if (inside !== own) throw malformed()
        this.#skip(inside)
      } else if (number === 2 && field.message !== undefined) {
        if (inside !== WireType.LengthDelimited) throw malformed()
        // The first value was counted with its entry. Each further one is decoded too, and replaces the
        // previous one.
        if (values++ > 0) this.#elements.add()
        this.#message(field.message, this.#end(), level + 1)
      } else this.#unknown(number, inside, level)
    }
  }

  #unknown(number: number, encoding: WireType, level: number): void {
    this.#more()
    if (encoding !== WireType.StartGroup) return this.#skip(encoding)
    if (level >= MAX_LEVELS) throw malformed()
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
    if (++this.#found > MAX_UNKNOWN_FIELDS)
      throw new InvalidArgument('', `the request has more than ${MAX_UNKNOWN_FIELDS} unknown fields`)
  }

  #tag(): readonly [number: number, encoding: WireType] {
    const tag = this.#varint()
    return [tag >>> 3, tag & 7]
  }

  /** Reads a length and returns the position at which its content ends. */
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

  /** Reads a varint and returns its lowest 32 bits. */
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

/** Returns the encoding of a value outside a packed list. An enum has no scalar type. */
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
