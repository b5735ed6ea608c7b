import { clone, create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { keyTextIn, wireKey } from '../../../server/methods/scope/wire-keys.js'
import type { Local } from '../../../resource/messages/local-field.js'
import type { Standard, Subject } from './subjects.js'

/** The location of a side's resources, as far as the check has created it. */
export interface Location {
  /** The keys of what others are in: a name by its pattern, any other key by the entity. */
  readonly parents: ReadonlyMap<object | string, string>
}

/** The content of a request for a standard method. Parts without a field in the message are left out. */
export interface Asking {
  readonly key?: string
  readonly keys?: readonly string[]
  /** The resource of a create or update; for a batch update, one of each key. */
  readonly entity?: Message
  readonly mask?: readonly string[]
  /** Further fields of the request by proto name. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * The request of a standard method. A key that a field cannot hold is left out.
 * @param location - where the resources are that have no parent in their key.
 */
export const requestFor = (
  location: Location,
  subject: Subject,
  { desc, standard }: Standard,
  asking: Asking,
): Message => {
  const { key = '', keys = [key], entity = create(subject.message), mask = [] } = asking
  const init: Record<string, unknown> = withFields(desc.input, {
    ...scopeOf(location, subject, desc.input, standard.kind === 'list' ? key : keys[0]),
    ...asking.fields,
  })
  const keyed = (one: string): Message => {
    const message = clone(subject.message, entity)
    Object.assign(message, { [subject.key.localName]: heldKey(subject.key, one) })
    return message
  }
  switch (standard.kind) {
    case 'get':
    case 'delete':
    case 'undelete':
      init[standard.key.localName] = heldKey(standard.key, key)
      break
    case 'batchGet':
    case 'batchDelete':
      init[standard.keys.localName] = keys.flatMap((one) => heldKey(standard.keys, one) ?? [])
      break
    case 'create':
      init[standard.resource.localName] = subject.isIdentity ? entity : keyed(key)
      if (standard.id !== undefined && !subject.isIdentity)
        init[standard.id.localName] = heldKey(standard.id, idOf(subject, key))
      break
    case 'update':
      Object.assign(init, updateOf(desc.input, standard.resource, keyed(key), mask))
      break
    case 'batchUpdate': {
      const { requests, resource } = standard
      init[requests.localName] = keys.map((one) =>
        create(requests.message, updateOf(requests.message, resource, keyed(one), mask)),
      )
      break
    }
    case 'list':
      break
  }
  return create(desc.input, init)
}

/** Returns the parent in a resource name; undefined for a key that is not a name of the resource. */
export const parentIn = ({ name }: Subject, key: string): string | undefined =>
  name?.parent === undefined || name.parse(key) === undefined
    ? undefined
    : key.split('/').slice(0, name.parent.text.split('/').length).join('/')

/** A key as a field has it; undefined for a text that the field cannot hold. */
export const heldKey = (field: DescField, text: string): unknown =>
  field.scalar === undefined ? text : wireKey(field, text)

/** The name of the parent that the check makes for all of them; undefined where they are in none. */
export const parentAt = ({ parents }: Location, { name, sharedParent }: Subject): string | undefined =>
  parents.get(name?.parent?.text ?? '') ?? sharedParent

/** The value of a locating field at a location, as a string. */
export const scopeTextAt = (location: Location, subject: Subject, name: string): string => {
  const { text = '', isParent = false } = subject.scope.get(name) ?? {}
  const { target } = subject.references.find(({ field }) => field.name === name) ?? {}
  return (isParent ? parentAt(location, subject) : target && location.parents.get(target)) ?? text
}

/** The same, as a field of a message has it. */
export const scopeAt = (location: Location, subject: Subject, field: DescField): unknown => {
  const text = scopeTextAt(location, subject, field.name)
  return (field.scalar === undefined ? undefined : wireKey(field, text)) ?? A_NUMBER
}

/**
 * Values for the fields that locate a resource. A resource with a parent of its own is requested in that
 * parent.
 */
const scopeOf = (
  location: Location,
  subject: Subject,
  input: DescMessage,
  key = '',
): Readonly<Record<string, unknown>> => {
  const parent = parentIn(subject, key)
  return Object.fromEntries(
    [...subject.scope].flatMap(([name, { isParent }]) => {
      const field = input.fields.find((one) => one.name === name)
      if (field === undefined) return []
      return [[name, isParent && parent !== undefined ? parent : scopeAt(location, subject, field)]]
    }),
  )
}

/** The value of a locating field that holds no key. */
const A_NUMBER = 7

/** The last part of a name. */
const idOf = ({ name }: Subject, key: string): string => name?.parse(key)?.at(-1) ?? key

/** The values that the message has a field for, by local name. */
export const withFields = (
  message: DescMessage,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const field = message.fields.find((one) => one.name === name)
      return field === undefined ? [] : [[field.localName, isMask(field) ? { paths: value } : value]]
    }),
  )

const isMask = (field: DescField): boolean =>
  field.fieldKind === 'message' && field.message.typeName === 'google.protobuf.FieldMask'

const updateOf = (
  input: DescMessage,
  resource: DescField,
  entity: Message,
  mask: readonly string[],
): Record<string, unknown> => ({
  [resource.localName]: entity,
  ...withFields(input, { update_mask: [...mask] }),
})

/** The key of a returned resource. */
export const keyOf = ({ key }: Subject, message: Message | undefined): string =>
  message === undefined ? '' : keyTextIn(message, key)

/** The text in a field of a response, `''` when there is none. */
export const textIn = (message: Message | undefined, field: DescField): string => {
  const value = (message as Local | undefined)?.[field.localName]
  return typeof value === 'string' ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : ''
}

/** The resources that a list or batch returned. */
export const itemsOf = (items: DescField, message: Message | undefined): readonly Message[] =>
  ((message as Local | undefined)?.[items.localName] as Message[] | undefined) ?? []
