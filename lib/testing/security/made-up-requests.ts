import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  ScalarType,
} from '@bufbuild/protobuf'
import {
  resource as resourceOption,
  resource_reference as referenceOption,
} from 'ashlar-annotations/google/api/resource_pb.js'
import { isUnwrapped } from '../../resource/messages/local-field.js'
import { snakeCase } from '../../text/snake-case.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { boundPattern } from './wire/http-request.js'
import type { RequestFactory } from './naming-request.js'
import { heldKey } from './world/requests.js'
import { put, sampleValue } from './world/samples.js'
import type { Subject } from './world/subjects.js'

/**
 * Returns functions that create a request for an application's method, one for each resource that its key may
 * belong to. Returns none if the request names no resource of the check.
 */
export const madeUpRequests = (
  method: ServedMethod,
  subjects: readonly Subject[],
  text: string,
): readonly RequestFactory[] => {
  const { desc } = method
  const own = desc.input.fields.find((field) => isKeyName(field) && holdsKey(field) && !isReference(field))
  const candidates = own === undefined ? [undefined] : candidatesOf(own, method, subjects)
  if (candidates.length === 0) candidates.push(undefined)
  const slots = slotsIn(desc.input, subjects, (field) => boundTo(method, field, subjects))
  if (slots === 0 && candidates[0] === undefined) return []
  return candidates.map((candidate) => (key, n) => {
    const keyFor = (field: DescField): Subject | undefined =>
      field === own ? candidate : (namedBy(field, subjects) ?? boundTo(method, field, subjects))
    return valuesOf(desc.input, { keyFor, key, n, text }, 0)
  })
}

/** Returns a function that creates the request of a method without resources. */
export const plainRequest =
  ({ desc }: ServedMethod, text: string): RequestFactory =>
  (key, n) =>
    valuesOf(desc.input, { keyFor: () => undefined, key, n, text }, 0)

/** Returns true if a string in the request may be a key that the check does not recognize. */
export const mayName = (message: DescMessage, depth = 0): boolean =>
  message.fields.some((field) => {
    if (ALONGSIDE.test(field.name)) return false
    if (field.message === undefined)
      return field.enum === undefined && (isText(field) || (isNumber(field) && isOfKey(field)))
    return depth < DEEPEST && mayName(field.message, depth + 1)
  })

interface Making {
  readonly keyFor: (field: DescField) => Subject | undefined
  readonly key: (message: string) => string
  readonly n: number
  readonly text: string
}

/** Matches fields that control how a call runs rather than what it does. */
const ALONGSIDE =
  /^(etag|validate_only|request_id|read_mask|update_mask|page_token|page_size|filter|order_by|q|show_deleted|allow_missing)$/
const DEEPEST = 3

const valuesOf = (message: DescMessage, making: Making, depth: number): Record<string, unknown> => {
  const init: Record<string, unknown> = {}
  for (const field of message.fields) put(init, field, valueOf(field, making, depth))
  return init
}

const valueOf = (field: DescField, making: Making, depth: number): unknown => {
  if (ALONGSIDE.test(field.name) || field.scalar === ScalarType.BOOL) return undefined
  const subject = making.keyFor(field)
  if (subject !== undefined) {
    const key = (): string => keyAs(field, making.key(subject.message.typeName))
    if (field.fieldKind === 'map') return mapOf(field, key, making)
    const one = (): unknown =>
      isBare(field) ? heldKey(field, key()) : create(field.message as DescMessage, { value: key() })
    // Two elements, because a check may cover only the first one.
    return field.fieldKind === 'list' ? [one(), one()] : one()
  }
  const { message } = field
  if (message === undefined || message.typeName.startsWith('google.'))
    return isKeyName(field) && depth > 0
      ? undefined
      : sampleValue(field, { ...making, secret: '', most: 200 }, 0)
  if (depth >= DEEPEST) return undefined
  const one = (): object => valuesOf(message, making, depth + 1)
  if (field.fieldKind === 'map')
    return Object.fromEntries(mapKeys(field, ['check', 'other']).map((name) => [name, one()]))
  return field.fieldKind === 'list' ? [one(), one()] : one()
}

/** Returns a map with resource names as its values, its keys, or both. */
const mapOf = (field: DescField & { fieldKind: 'map' }, key: () => string, making: Making): object =>
  Object.fromEntries(
    mapKeys(field, [key(), key()]).map((name) => [
      name,
      field.scalar === ScalarType.STRING ? key() : valueIn(field, making),
    ]),
  )

const mapKeys = (
  { mapKey }: DescField & { fieldKind: 'map' },
  texts: readonly string[],
): readonly string[] => {
  if (mapKey === ScalarType.STRING) return texts
  return mapKey === ScalarType.BOOL ? ['true', 'false'] : ['1', '2']
}

const valueIn = (field: DescField, making: Making): unknown =>
  Object.values(sampleValue(field, { ...making, secret: '', most: 200 }, 0) as object)[0]

/** Returns true if generated code represents a string field as a plain string. */
const isBare = (field: DescField): boolean => field.message === undefined || isUnwrapped(field)

/** Returns the key for a field. A field such as `book_id` receives only the last part of a name. */
const keyAs = ({ name }: DescField, key: string): string =>
  /_ids?$/.test(name) ? key.slice(key.lastIndexOf('/') + 1) : key

const slotsIn = (
  message: DescMessage,
  subjects: readonly Subject[],
  bound: (field: DescField) => Subject | undefined,
  depth = 0,
): number =>
  message.fields.reduce((sum, field) => {
    if ((namedBy(field, subjects) ?? (depth === 0 ? bound(field) : undefined)) !== undefined) return sum + 1
    const inner = depth >= DEEPEST ? undefined : field.message
    return inner === undefined ? sum : sum + slotsIn(inner, subjects, () => undefined, depth + 1)
  }, 0)

const isKeyName = ({ name }: DescField): boolean => /^(id|name)s?$/.test(name)

/** Returns true if the field contains a string, also in a wrapper message or a map. */
const isText = (field: DescField): boolean =>
  field.scalar === ScalarType.STRING ||
  field.message?.typeName === 'google.protobuf.StringValue' ||
  (field.fieldKind === 'map' && field.mapKey === ScalarType.STRING && field.message === undefined)

const isNumber = ({ fieldKind, scalar }: DescField): boolean =>
  (fieldKind === 'scalar' || fieldKind === 'list') && scalar !== undefined && NUMBERS.has(scalar)

const NUMBERS: ReadonlySet<ScalarType | undefined> = new Set([
  ...[ScalarType.INT32, ScalarType.UINT32, ScalarType.SINT32, ScalarType.FIXED32, ScalarType.SFIXED32],
  ...[ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64],
])

/** Returns true if a number field with that name is a key rather than a count. */
const isOfKey = ({ name }: DescField): boolean => /(^|_)ids?$/.test(name)

const holdsKey = (field: DescField): boolean => isText(field) || isNumber(field)

const isReference = (field: DescField): boolean => hasOption(field, referenceOption)

/**
 * Returns the resource to which a field refers by its reference option, or otherwise by its name, such as
 * `book`, `book_id` or `other_books`.
 */
const namedBy = (field: DescField, all: readonly Subject[]): Subject | undefined => {
  if (!isText(field) && !(isNumber(field) && (isOfKey(field) || isReference(field)))) return undefined
  const subjects = all.filter((subject) => canName(field, subject))
  if (isReference(field)) {
    const { type, childType } = getOption(field, referenceOption)
    if (type !== '') return subjects.find((subject) => isOfType(subject, type))
    const child = subjects.find((subject) => isOfType(subject, childType))
    const parent = child?.name?.parent?.text
    return parent === undefined ? undefined : subjects.find(({ name }) => name?.pattern === parent)
  }
  return subjects.find(({ message }) =>
    new RegExp(`(^|_)${snakeCase(message.name)}(_ids?|_names?|e?s)?$`).test(field.name),
  )
}

/** Returns true if the field can contain the resource's key. A number field cannot contain a string key. */
const canName = (field: DescField, { newText }: Subject): boolean =>
  !isNumber(field) || heldKey(field, newText('')) !== undefined

const isOfType = ({ message }: Subject, type: string): boolean =>
  hasOption(message, resourceOption)
    ? getOption(message, resourceOption).type === type
    : type.endsWith(`/${message.name}`)

/** Returns the resource whose name pattern the HTTP path requires in the field. */
const boundTo = (
  { desc }: ServedMethod,
  field: DescField,
  subjects: readonly Subject[],
): Subject | undefined => {
  const pattern = field.parent === desc.input && holdsKey(field) ? boundPattern(desc, field.name) : undefined
  return pattern === undefined || pattern === '*'
    ? undefined
    : subjects.find(({ name }) => name?.pattern.replaceAll(/\{[^}]*\}/g, '*') === pattern)
}

/**
 * Returns the resources whose key the request's `id` or `name` may be, judged by the path, the method's name,
 * or its response.
 */
const candidatesOf = (
  field: DescField,
  method: ServedMethod,
  subjects: readonly Subject[],
): (Subject | undefined)[] => {
  const bound = boundTo(method, field, subjects)
  if (bound !== undefined) return [bound]
  const { desc, resource } = method
  const inName = subjects
    .filter(({ message }) => new RegExp(`${message.name}(e?s)?$`).test(desc.name))
    .sort((one, other) => other.message.name.length - one.message.name.length)
  const others = [desc.output, resource].flatMap(
    (wanted) => subjects.find(({ message }) => message === wanted) ?? [],
  )
  return [...new Set([...inName, ...others])].filter((subject) => canName(field, subject))
}
