import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { field_behavior, FieldBehavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { fitsIn, newTextThat } from './made-up-keys.js'
import { type Location, scopeAt } from './requests.js'
import type { Subject } from './subjects.js'

/** The parameters of generated values. */
export interface Making {
  /** Distinguishes the values of different resources. */
  readonly n: number
  /** The prefix of every string in an ordinary field. */
  readonly text: string
  /** The value of secret fields. */
  readonly secret: string
  /** If true, uses other values also for types with few values: booleans, enums and times. */
  readonly isOther?: boolean
}

/** Your own values for a resource that rejects generated ones. */
export type Samples = Readonly<Record<string, (n: number) => object>>

const DEEPEST = 2
/** Fields that the server writes, for resources without a repository. */
const SERVERS = ['account_id', 'etag', 'create_time', 'update_time', 'delete_time', 'expire_time']

/** @throws TypeError for a resource that the check does not create. */
export const checkSamples = (subjects: readonly Subject[], samples: Samples): void => {
  for (const name of Object.keys(samples))
    if (!subjects.some(({ message }) => message.typeName === name))
      throw new TypeError(`samples: ${name} is not a resource of the server, such as package.Message`)
}

/** Returns the advice for a rejected resource. */
export const samplesAdvice = ({ message: { typeName } }: Subject, samples: Samples): string =>
  Object.hasOwn(samples, typeName)
    ? `change the function of ${typeName} in \`samples\``
    : `give \`samples\` for ${typeName}`

/**
 * Returns a new resource without a key, with a value in every field that a client may write.
 * @param location - the location of the resource.
 * @param references - the values of reference fields, by local name.
 */
export const sampleOf = (
  subject: Subject,
  making: Making,
  samples: Samples,
  location: Location,
  references: Readonly<Record<string, unknown>>,
): Message => {
  const init: Record<string, unknown> = {}
  for (const field of writableFields(subject)) put(init, field, valueFor(subject, field, making))
  for (const name of subject.scope.keys()) {
    const field = subject.message.fields.find((one) => one.name === name)
    if (field !== undefined) put(init, field, scopeAt(location, subject, field))
  }
  const { typeName } = subject.message
  const own = samples[typeName]?.(making.n)
  const known = [...subject.message.fields, ...subject.message.oneofs].map(({ localName }) => localName)
  for (const [name, value] of Object.entries(own ?? {}))
    if (name !== '$typeName' && name !== '$unknown' && !known.includes(name))
      throw new TypeError(
        `samples of ${typeName}: ${name} is not a field of it, which are ${known.join(', ')}`,
      )
    else if (value instanceof Date)
      throw new TypeError(
        `samples of ${typeName}: ${name} is a Date, use timestampFromDate() of @bufbuild/protobuf/wkt`,
      )
  return create(subject.message, { ...init, ...references, ...own })
}

/** Returns the fields that a client may write. */
export const writableFields = ({ message, repository, secrets, key }: Subject): readonly DescField[] => {
  const model = repository?.model
  return message.fields.filter((field) => {
    if (secrets.includes(field)) return true
    if (model !== undefined) return model.writable.has(field.name)
    return field !== key && !SERVERS.includes(field.name) && !isOutputOnly(field)
  })
}

/** Returns the fields that an update mask may name. A mask with any other field is rejected at once. */
export const maskableFields = (subject: Subject): readonly DescField[] =>
  writableFields(subject).filter((field) => !behaves(field, FieldBehavior.IMMUTABLE))

const isOutputOnly = (field: DescField): boolean => behaves(field, FieldBehavior.OUTPUT_ONLY)

const behaves = (field: DescField, behavior: FieldBehavior): boolean =>
  hasOption(field, field_behavior) && getOption(field, field_behavior).includes(behavior)

export const put = (init: Record<string, unknown>, field: DescField, value: unknown): void => {
  if (value === undefined) return
  if (field.oneof === undefined) init[field.localName] = value
  else init[field.oneof.localName] ??= { case: field.localName, value }
}

const valueFor = ({ repository, secrets }: Subject, field: DescField, making: Making): unknown => {
  if (secrets.includes(field) && field.scalar !== undefined)
    return field.scalar === ScalarType.BYTES ? Buffer.from(making.secret) : `${making.secret}${making.n}`
  const column = repository?.model.byProto.get(field.name)
  const value = sampleValue(field, { ...making, most: column?.maxLength ?? Infinity }, 0)
  // The string may represent a value with a fixed format, such as a UUID.
  if (typeof value !== 'string' || fitsIn(column, value)) return value
  return newTextThat((text) => fitsIn(column, text))(making.text)
}

type Bounded = Making & { readonly most: number }

export const sampleValue = (field: DescField, making: Bounded, depth: number): unknown => {
  const one = oneOf(field, making, depth)
  if (one === undefined) return undefined
  if (field.fieldKind === 'list') return [one]
  if (field.fieldKind !== 'map') return one
  return { [field.mapKey === ScalarType.STRING ? 'check' : '1']: one }
}

const oneOf = (field: DescField, making: Bounded, depth: number): unknown => {
  if (field.enum !== undefined) return choiceOf(field.enum, making)
  if (field.message !== undefined) return nested(field.message, making, depth)
  return scalar(field.scalar as ScalarType, making)
}

const scalar = (type: ScalarType, { n, text, most, isOther = false }: Bounded): unknown => {
  switch (type) {
    case ScalarType.STRING:
      return `${text}${n}`.slice(0, most)
    case ScalarType.BYTES:
      return Buffer.from(`${text}${n}`)
    case ScalarType.BOOL:
      return !isOther
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return n + 0.5
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return BigInt(n + 1)
    default:
      return n + 1
  }
}

const choiceOf = ({ values }: DescEnum, { isOther = false }: Making): number => {
  const [first = values[0], other = first] = values.filter(({ number }) => number !== 0)
  return (isOther ? other : first)?.number ?? 0
}

/** A time in 2030, in seconds since the epoch. */
const SOME_TIME = 1_900_000_000n

const nested = (desc: DescMessage, making: Bounded, depth: number): unknown => {
  const later = making.isOther === true ? 86_400n : 0n
  if (desc.typeName === 'google.protobuf.Timestamp') return create(desc, { seconds: SOME_TIME + later })
  if (desc.typeName === 'google.protobuf.Duration') return create(desc, { seconds: 1n + later })
  const wrapped = /^google\.protobuf\.\w+Value$/.test(desc.typeName) ? desc.fields[0] : undefined
  if (wrapped?.scalar !== undefined) return scalar(wrapped.scalar, making)
  if (desc.typeName.startsWith('google.protobuf.') || depth >= DEEPEST) return undefined
  const init: Record<string, unknown> = {}
  for (const field of desc.fields) put(init, field, sampleValue(field, making, depth + 1))
  return create(desc, init)
}
