import {
  clearField,
  clone,
  create,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf'
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt'
import { randomUUID } from 'node:crypto'
import {
  ensureMessage,
  getField,
  isUnwrapped,
  type Local,
  setField,
} from '../../../resource/messages/local-field.js'

/** Values for the booleans and enums of a request that replace its own. */
export interface Variant {
  /** The values, such as `all: true, view: FULL`; empty for the original request. */
  readonly name: string
  /** True if one of the values changes what the call does rather than how it runs. */
  readonly isOfItsOwn: boolean
  readonly of: (request: Message) => Message
}

export interface Variants {
  readonly variants: readonly Variant[]
  /** The reason why combinations are missing; empty if all are included. */
  readonly missing: string
}

/** If there are more combinations, each value is tried separately. */
const MAX_COMBINATIONS = 16
const MAX = 32
const DEEPEST = 3

/** The names of fields for masks and sort orders. */
export interface FieldNames {
  /** The fields that an update may write. */
  readonly writable: readonly string[]
  /** The fields that a sort order may contain. */
  readonly sortable: readonly string[]
  /** The fields that the method returns. */
  readonly returned: readonly string[]
}

const masksOf = (names: readonly string[]): readonly (() => unknown)[] =>
  [['*'], names].map((paths) => () => create(FieldMaskSchema, { paths: [...paths] }))

/** Values of fields that control how a request runs. A value that must be unique is generated each time. */
const ALONGSIDE: Readonly<Record<string, (names: FieldNames) => readonly (() => unknown)[]>> = {
  etag: () => [() => 'check', () => '*'],
  request_id: () => [() => randomUUID()],
  order_by: ({ sortable }) => [() => sortable.join(','), () => `${sortable.join(' desc,')} desc`],
  page_size: () => [() => 1, () => 1000, () => -1],
  read_mask: ({ returned }) => masksOf(returned),
  update_mask: ({ writable }) => masksOf(writable),
}

type Change = (request: Message) => void

/** A value for a request field. */
interface Option {
  readonly name: string
  readonly isOfItsOwn: boolean
  readonly change: Change
}

export interface VariantOptions {
  /** Paths of the fields that contain keys. Each is also omitted once. */
  readonly held?: Iterable<string>
  readonly names?: FieldNames
  /** The maximum depth of messages that are varied. */
  readonly deepest?: number
}

/**
 * Returns the original request, followed by a request for each value of each boolean and enum in it, and
 * requests in which one of its messages, lists, maps and oneof members is missing or empty.
 */
export const variantsOf = (
  desc: DescMessage,
  sample: Message,
  {
    held = [],
    names = { writable: [], sortable: ['id'], returned: [] },
    deepest = DEEPEST,
  }: VariantOptions = {},
): Variants => {
  const fields = choicesIn(desc, 0, deepest)
  const choices = fields.map(({ options }) => options)
  const alongside = [
    ...[...held].map((path): Option => ({
      ...{ name: `no ${path}`, isOfItsOwn: false },
      change: (request) => clearAt(request, desc, path.split('.')),
    })),
    ...fields.flatMap(({ alone }) => alone),
    ...partsIn(desc, 0, deepest),
    ...desc.fields.flatMap((field) => alongsideOf(field, names)),
  ]
  const count = choices.reduce((product, options) => product * options.length, 1)
  const isAll = count <= MAX_COMBINATIONS
  const combined = isAll
    ? choices.reduce<readonly (readonly Option[])[]>(
        (some, options) => some.flatMap((before) => options.map((option) => [...before, option])),
        [[]],
      )
    : choices.flatMap((options) => options.map((option) => [option]))
  const known = new Set<string>()
  const variants = [[], ...combined, ...alongside.map((option) => [option])].flatMap((options): Variant[] => {
    const of = (request: Message): Message => {
      const varied = clone(desc, request)
      for (const { change } of options) change(varied)
      return varied
    }
    const bytes = Buffer.from(toBinary(desc, of(sample))).toString('base64')
    if (known.has(bytes)) return []
    known.add(bytes)
    const isOfItsOwn = options.some((one) => one.isOfItsOwn)
    return [{ name: options.map(({ name }) => name).join(', '), isOfItsOwn, of }]
  })
  const missing = isAll && variants.length <= MAX ? '' : 'combinations of its fields'
  return { variants: variants.slice(0, MAX), missing }
}

/**
 * Returns the request fields that no variant changes: strings, numbers, times, and fields that are nested too
 * deeply.
 * @param isKey - returns true for fields that contain keys of resources.
 */
export const freeFieldsOf = (
  desc: DescMessage,
  isKey: (path: string, field: DescField) => boolean,
): readonly string[] => freeIn(desc, isKey, '', 0)

const freeIn = (
  desc: DescMessage,
  isKey: (path: string, field: DescField) => boolean,
  above: string,
  depth: number,
): readonly string[] =>
  desc.fields.flatMap((field) => {
    const path = above + field.name
    if (depth === 0 && (field.name === 'page_token' || Object.hasOwn(ALONGSIDE, field.name))) return []
    if (isKey(path, field)) return []
    if (field.fieldKind === 'map') return [path]
    if (isChoice(field)) return []
    const { message } = field
    if (message === undefined || message.typeName.startsWith('google.') || depth >= DEEPEST) return [path]
    return freeIn(message, isKey, `${path}.`, depth + 1)
  })

/** Returns the positions of a key in a message, as field paths. */
export const pathsOf = (message: Message, desc: DescMessage, key: string, above = ''): readonly string[] =>
  desc.fields.flatMap((field) => {
    const path = above + field.name
    const values = valuesOf(message, field)
    if (values.some((value) => isOf(value, key))) return [path]
    const inner = field.message
    if (inner === undefined || inner.typeName.startsWith('google.')) return []
    return values.flatMap((value) => pathsOf(value as Message, inner, key, `${path}.`))
  })

const isOf = (value: unknown, key: string): boolean =>
  typeof value === 'string'
    ? value.includes(key)
    : (typeof value === 'number' || typeof value === 'bigint') && String(value) === key

/** Returns all values of a field, for a map including its keys. */
const valuesOf = (message: Message, field: DescField): readonly unknown[] => {
  const value = getField(message, field)
  if (value === undefined) return []
  if (field.fieldKind === 'list') return value as readonly unknown[]
  if (field.fieldKind !== 'map') return [value]
  const map = value as Readonly<Record<string, unknown>>
  return field.message === undefined ? [...Object.keys(map), ...Object.values(map)] : Object.values(map)
}

const isBool = (field: DescField): boolean =>
  field.scalar === ScalarType.BOOL || field.message?.typeName === 'google.protobuf.BoolValue'

const isChoice = (field: DescField): boolean => field.enum !== undefined || isBool(field)

interface Choice {
  readonly options: readonly Option[]
  /** Values that are tried without combinations: one that the enum does not define, and a list of all. */
  readonly alone: readonly Option[]
}

const choicesIn = (desc: DescMessage, depth: number, deepest: number): readonly Choice[] =>
  desc.fields.flatMap((field): readonly Choice[] => {
    if (isChoice(field)) return [{ options: optionsOf(field), alone: [...unknownOf(field), ...allOf(field)] }]
    const inner = field.message
    if (inner === undefined || inner.typeName.startsWith('google.') || depth >= deepest) return []
    return choicesIn(inner, depth + 1, deepest).map(({ options, alone }) => ({
      options: options.map((option) => below(field, option)),
      alone: alone.map((option) => below(field, option)),
    }))
  })

const below = (field: DescField, { name, isOfItsOwn, change }: Option): Option => ({
  ...{ name: `${field.name}.${name}`, isOfItsOwn },
  change: (request) => within(request, field, change),
})

/** Returns requests without each message, list, map and oneof member, and with each message empty. */
const partsIn = (desc: DescMessage, depth: number, deepest: number): readonly Option[] =>
  desc.fields.flatMap((field): readonly Option[] => {
    const { message } = field
    const option = (name: string, change: Change): Option => ({
      ...{ name: `${name} ${field.name}`, isOfItsOwn: false },
      change,
    })
    const isPart = field.fieldKind !== 'scalar' || field.oneof !== undefined
    const parts = isPart ? [option('no', (request) => clearField(request, field))] : []
    const isBare: boolean = isUnwrapped(field)
    if (message === undefined || isBare || NEVER_EMPTY.has(message.typeName)) return parts
    if (field.fieldKind !== 'map')
      parts.push(
        option('empty', (request) => {
          const local = request as Local
          const empty = create(message)
          if (field.fieldKind === 'list') local[field.localName] = [empty]
          else setField(request, field, empty)
        }),
      )
    if (message.typeName.startsWith('google.') || depth >= deepest) return parts
    return [...parts, ...partsIn(message, depth + 1, deepest).map((option) => below(field, option))]
  })

/** Messages that JSON cannot contain without a value. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['google.protobuf.Value', 'google.protobuf.Any'])

const alongsideOf = (field: DescField, names: FieldNames): readonly Option[] => {
  const values = Object.hasOwn(ALONGSIDE, field.name) ? (ALONGSIDE[field.name]?.(names) ?? []) : []
  if (field.fieldKind === 'list' || field.fieldKind === 'map') return []
  return values.flatMap((value): readonly Option[] => {
    const made = value()
    const isFit =
      typeof made === 'string'
        ? field.scalar === ScalarType.STRING
        : typeof made === 'number'
          ? field.scalar === ScalarType.INT32 || field.scalar === ScalarType.UINT32
          : field.message?.typeName === FieldMaskSchema.typeName
    if (!isFit) return []
    const name = typeof made === 'number' ? `${field.name}: ${made}` : field.name
    return [{ name, isOfItsOwn: false, change: (request) => setField(request, field, value()) }]
  })
}

/** Returns a number that the enum does not define. It reaches the method in both formats. */
const unknownOf = (field: DescField): readonly Option[] => {
  if (field.enum === undefined || !field.enum.open) return []
  const number = Math.max(...field.enum.values.map((value) => value.number)) + 1
  return [{ ...optionOf(field, `${field.name}: ${number}`, number), isOfItsOwn: false }]
}

/** Returns the list that contains all values of an enum. */
const allOf = (field: DescField): readonly Option[] => {
  if (field.fieldKind !== 'list' || field.enum === undefined) return []
  const numbers = field.enum.values.map(({ number }) => number)
  const change: Change = (request) => {
    ;(request as Local)[field.localName] = [...numbers]
  }
  return [{ name: `${field.name}: all values`, isOfItsOwn: false, change }]
}

/** Clears a field, or the list or map that contains it. */
const clearAt = (message: Message, desc: DescMessage, [name, ...rest]: readonly string[]): void => {
  const field = desc.fields.find((one) => one.name === name)
  if (field === undefined) return
  const inner = field.fieldKind === 'message' && rest.length > 0 ? getField(message, field) : undefined
  if (inner === undefined || field.message === undefined) clearField(message, field)
  else clearAt(inner as Message, field.message, rest)
}

const optionsOf = (field: DescField): readonly Option[] => {
  const values: readonly (readonly [string, number | boolean])[] =
    field.enum === undefined
      ? [
          ['false', false],
          ['true', true],
        ]
      : field.enum.values.map(({ name, number }) => [name, number])
  return values.map(([text, value]) => optionOf(field, `${field.name}: ${text}`, value))
}

const optionOf = (field: DescField, name: string, value: number | boolean): Option => ({
  ...{ name, isOfItsOwn: true },
  change: (request) => {
    const local = request as Local
    const { message } = field
    const isBare = message === undefined || isUnwrapped(field)
    const one = isBare ? value : create(message, { value } as Record<string, unknown>)
    if (field.fieldKind === 'list') local[field.localName] = [one]
    else if (field.fieldKind === 'map') {
      const keys = Object.keys(local[field.localName] as object)
      local[field.localName] = Object.fromEntries(
        (keys.length === 0 ? [field.mapKey === ScalarType.STRING ? 'check' : '1'] : keys).map((key) => [
          key,
          one,
        ]),
      )
    } else setField(request, field, one)
  },
})

/** Changes the messages in a field. A missing message is added first. */
const within = (request: Message, field: DescField, change: Change): void => {
  if (field.message === undefined) return
  const local = request as Local
  if (field.fieldKind === 'list') {
    const items = local[field.localName] as Message[]
    if (items.length === 0) items.push(create(field.message))
    items.forEach(change)
  } else if (field.fieldKind === 'map') {
    const items = local[field.localName] as Record<string, Message>
    Object.values(items).forEach(change)
  } else change(ensureMessage(request, field as DescField & { readonly message: DescMessage }))
}
