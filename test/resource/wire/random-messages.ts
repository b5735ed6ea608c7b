import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import {
  DurationSchema,
  FileDescriptorProtoSchema,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
  isWrapperDesc,
  TimestampSchema,
} from '@bufbuild/protobuf/wkt'
import { isPlainObject, isUnwrapped, setField, setOwn } from '../../../lib/resource/messages/local-field.js'
import type { ResourceModel } from '../../../lib/resource/resource-model.js'

/** Values from a seed: the same seed makes the same values. */
export class Random {
  #state: number

  constructor(readonly seed: number) {
    this.#state = seed
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }
}

const INT32 = [0, 1, -1, 127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 31 - 1, -(2 ** 31), -0]
const UINT32 = [0, 1, 127, 128, 2 ** 14, 2 ** 28, 2 ** 31, 2 ** 32 - 1]
const INT64 = [
  0n,
  1n,
  -1n,
  127n,
  2n ** 31n,
  2n ** 53n,
  2n ** 53n - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  -(2n ** 31n),
]
const UINT64 = [0n, 1n, 128n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]
const NUMBERS = [0, -0, 1, -1, 0.1, 1e-45, 3.4028234663852886e38, Number.NaN, Infinity, -Infinity, 1e10]
const DOUBLES = [...NUMBERS, 5e-324, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER]
const PIECES = [
  '',
  'a',
  'Anvil',
  'ß',
  '€',
  '鉄',
  '🔨',
  '\u0000',
  '\ud800',
  '\udc00',
  '\u007f',
  '\u0080',
  'steel '.repeat(9),
]
const MOMENTS = [0, 1, 999, 1000, -1, -1000, -62_135_596_800_000, 253_402_300_799_999, 1_700_000_000_123]
const KEYS = ['', 'env', 'team', '7', '10', '__proto__', 'constructor', 'länge']

const text = (random: Random): string => {
  const length = random.of([0, 1, 1, 2, 3, 3, 5, 90])
  let made = ''
  for (let piece = 0; piece < length; piece++) made += random.of(PIECES)
  return made
}

const bytes = (random: Random): Uint8Array =>
  Uint8Array.from({ length: random.of([0, 1, 3, 127, 128, 300]) }, () => random.below(256))

const scalar = (type: ScalarType, random: Random): unknown => {
  switch (type) {
    case ScalarType.STRING:
      return text(random)
    case ScalarType.BYTES:
      return random.next() < 0.5 ? bytes(random) : Buffer.from(bytes(random))
    case ScalarType.BOOL:
      return random.next() < 0.5
    case ScalarType.FLOAT:
      return random.of(NUMBERS)
    case ScalarType.DOUBLE:
      return random.of(DOUBLES)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return random.next() < 0.5 ? random.of(UINT32) : random.below(2 ** 32)
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return random.of(INT64)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return random.of(UINT64)
    default:
      return random.next() < 0.5 ? random.of(INT32) : random.below(2 ** 32) - 2 ** 31
  }
}

const json = (random: Random, depth: number): unknown => {
  const kind = random.below(depth > 0 ? 6 : 4)
  if (kind === 0) return null
  if (kind === 1) return random.of([0, -0, 1.5, -1e300])
  if (kind === 2) return text(random)
  if (kind === 3) return random.next() < 0.5
  if (kind === 4) return Array.from({ length: random.below(4) }, () => json(random, depth - 1))
  return jsonObject(random, depth - 1)
}

const jsonObject = (random: Random, depth: number): object => {
  const made = {}
  for (let left = random.below(4); left > 0; left--) setOwn(made, random.of(KEYS), json(random, depth))
  return made
}

/** One value of a field, an element of a list, or a value of a map, as generated code holds it. */
const single = (field: DescField, random: Random, depth: number): unknown => {
  if (field.enum !== undefined)
    return field.enum.open && random.next() < 0.2 ? random.of([99, -5]) : random.of(field.enum.values).number
  if (field.message === undefined) {
    const value = scalar(field.scalar as ScalarType, random)
    return 'longAsString' in field && field.longAsString && typeof value === 'bigint' ? String(value) : value
  }
  if (isPlainObject(field)) return jsonObject(random, depth)
  if (isUnwrapped(field) && isWrapperDesc(field.message))
    return single(field.message.fields[0] as DescField, random, 0)
  if (field.message.typeName === TimestampSchema.typeName)
    return create(TimestampSchema, { seconds: BigInt(random.of(MOMENTS)) / 1000n, nanos: random.below(1e9) })
  if (field.message.typeName === DurationSchema.typeName && random.next() < 0.95)
    return create(DurationSchema, { seconds: random.of(INT64), nanos: random.below(2e9) - 1e9 })
  return randomMessage(field.message, random, depth - 1)
}

const mapKey = (type: ScalarType, random: Random): string => {
  const key = scalar(type, random)
  return type === ScalarType.STRING ? random.of(KEYS) : String(Object.is(key, -0) ? 0 : key)
}

const valueFor = (field: DescField, random: Random, depth: number): unknown => {
  const length = random.of([0, 1, 2, 5, 40])
  if (field.fieldKind === 'list')
    return Array.from({ length: Math.min(length, depth * 20) }, () => single(field, random, depth))
  if (field.fieldKind !== 'map') return single(field, random, depth)
  const made = {}
  for (let left = Math.min(length, 6); left > 0; left--)
    setOwn(made, mapKey(field.mapKey, random), single(field, random, depth))
  return made
}

/** google.protobuf.FeatureSet.FieldPresence. */
const REQUIRED = 3

/**
 * A message in which each field is set with a chance of about one in four; sometimes with fields that nobody
 * knows.
 */
export const randomMessage = (desc: DescMessage, random: Random, depth = 2): Message => {
  const message = create(desc)
  const chance = desc.fields.length > 40 ? 0.1 : 0.5
  for (const field of desc.fields) {
    const isDeep = field.message !== undefined && depth <= 0
    if (field.presence === REQUIRED || (!isDeep && random.next() < chance))
      setField(message, field, valueFor(field, random, depth))
  }
  if (random.next() < 0.05)
    message.$unknown = [{ no: 19_999, wireType: 2, data: Uint8Array.of(2, random.below(256), 7) }]
  return message
}

/** An entity as a database may return it: of all kinds of values, with some absent or null. */
export const randomEntity = (model: ResourceModel, random: Random): object => {
  const { message } = model
  const entity = model.fromMessage(randomMessage(message as DescMessage, random)) as Record<string, unknown>
  for (const { property, kind, role } of model.entityFields) {
    if (random.next() < 0.05) entity[property] = random.of([undefined, null])
    else if (kind === 'timestamp' && random.next() < 0.7) entity[property] = new Date(random.of(MOMENTS))
    else if (role !== 'plain' && kind === 'string') entity[property] = text(random)
  }
  for (const { property } of [...model.secrets, ...model.credentials]) entity[property] = 'canary'
  return entity
}

/** A message that repeats a file of 1,000 bytes a thousand times, and how often the file's name was read. */
export function repeatedFile(): readonly [FileDescriptorSet, reads: () => number] {
  let count = 0
  const file = Object.defineProperty(create(FileDescriptorProtoSchema), 'name', {
    get: () => {
      count++
      return 'x'.repeat(1_000)
    },
  })
  return [Object.assign(create(FileDescriptorSetSchema), { file: Array(1_000).fill(file) }), () => count]
}
