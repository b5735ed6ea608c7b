import {
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

/** Values of the booleans and enums of a request, instead of those that it has. */
export interface Variant {
  /** Such as `all: true, view: FULL`; empty for the request as it is. */
  readonly name: string
  /** Whether one of the values says what the call is about, and not how it is made. */
  readonly isOfItsOwn: boolean
  readonly of: (request: Message) => Message
}

export interface Variants {
  readonly variants: readonly Variant[]
  /** Why not every combination is one of them; empty if it is. */
  readonly missing: string
}

/** With more combinations, each value is tried alone. */
const MOST_COMBINATIONS = 16
const MOST = 32
const DEEPEST = 3

/** Values of fields that say how a request is made. A value that differs each time is made anew. */
const ALONGSIDE: Readonly<Record<string, () => unknown>> = {
  etag: () => 'check',
  request_id: () => randomUUID(),
  order_by: () => 'id',
  page_size: () => 1,
  read_mask: () => create(FieldMaskSchema, { paths: ['*'] }),
  update_mask: () => create(FieldMaskSchema, { paths: ['*'] }),
}

type Change = (request: Message) => void

/** A value of a field of a request. */
interface Option {
  readonly name: string
  readonly isOfItsOwn: boolean
  readonly change: Change
}

/**
 * A request with each value of each boolean and enum in it, and first as it is.
 * @param deepest - how deep messages in it are varied.
 */
export const variantsOf = (desc: DescMessage, sample: Message, deepest = DEEPEST): Variants => {
  const choices = choicesIn(desc, 0, deepest).map(({ options }) => options)
  const alongside = desc.fields.flatMap((field) => alongsideOf(field) ?? [])
  const count = choices.reduce((product, options) => product * options.length, 1)
  const isAll = count <= MOST_COMBINATIONS
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
  const missing = isAll && variants.length <= MOST ? '' : 'combinations of its booleans and enums'
  return { variants: variants.slice(0, MOST), missing }
}

/**
 * The fields of a request that can have values which no variant has: texts, numbers, times, and whatever is
 * too deep.
 * @param isKey - for fields that have the keys of resources.
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
    if (isKey(path, field) || isChoice(field)) return []
    const { message } = field
    if (message === undefined || message.typeName.startsWith('google.') || depth >= DEEPEST) return [path]
    return freeIn(message, isKey, `${path}.`, depth + 1)
  })

/** Where a key is in a message, as paths of its fields. */
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

/** All values of a field; those of a map with their keys. */
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
}

const choicesIn = (desc: DescMessage, depth: number, deepest: number): readonly Choice[] =>
  desc.fields.flatMap((field): readonly Choice[] => {
    if (isChoice(field)) return [{ options: optionsOf(field) }]
    const inner = field.message
    if (inner === undefined || inner.typeName.startsWith('google.') || depth >= deepest) return []
    return choicesIn(inner, depth + 1, deepest).map(({ options }) => ({
      options: options.map(({ name, isOfItsOwn, change }) => ({
        name: `${field.name}.${name}`,
        isOfItsOwn,
        change: (request) => within(request, field, change),
      })),
    }))
  })

const alongsideOf = (field: DescField): Option | undefined => {
  const value = Object.hasOwn(ALONGSIDE, field.name) ? ALONGSIDE[field.name] : undefined
  if (value === undefined || field.fieldKind === 'list' || field.fieldKind === 'map') return undefined
  const made = value()
  const isFit =
    typeof made === 'string'
      ? field.scalar === ScalarType.STRING
      : typeof made === 'number'
        ? field.scalar === ScalarType.INT32 || field.scalar === ScalarType.UINT32
        : field.message?.typeName === FieldMaskSchema.typeName
  if (!isFit) return undefined
  return { name: field.name, isOfItsOwn: false, change: (request) => setField(request, field, value()) }
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

/** Changes the messages in a field. One that is not there is added. */
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
