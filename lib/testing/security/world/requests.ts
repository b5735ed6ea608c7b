import { clone, create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { keyTextIn, wireKey } from '../../../server/methods/scope/wire-keys.js'
import type { Local } from '../../../resource/messages/local-field.js'
import type { Standard, Subject } from './subjects.js'

/** The location of a tenant's resources, as far as the check has created it. */
export interface Location {
  /** The keys of parents: names by their pattern, other keys by the entity. */
  readonly parents: ReadonlyMap<object | string, string>
}

/** The content of a request for a standard method. Parts without a field in the message are ignored. */
export interface Asking {
  readonly key?: string
  readonly keys?: readonly string[]
  /** The resource of a create or update. In a batch update, it is sent for each key. */
  readonly entity?: Message
  readonly mask?: readonly string[]
  /** Further request fields by proto name. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * Returns the request of a standard method. A key that the field cannot contain is omitted.
 * @param location - the location of resources whose key contains no parent.
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

/** Returns a key in the type of a field; undefined if the field cannot contain it. */
export const heldKey = (field: DescField, text: string): unknown =>
  field.scalar === undefined ? text : wireKey(field, text)

/**
 * Returns the name of the parent that the check creates for all resources; undefined for top-level resources.
 */
export const parentAt = ({ parents }: Location, { name, sharedParent }: Subject): string | undefined =>
  parents.get(name?.parent?.text ?? '') ?? sharedParent

/** Returns the value of a scope field at a location, as a string. */
export const scopeTextAt = (location: Location, subject: Subject, name: string): string => {
  const { text = '', isParent = false } = subject.scope.get(name) ?? {}
  const { target } = subject.references.find(({ field }) => field.name === name) ?? {}
  return (isParent ? parentAt(location, subject) : target && location.parents.get(target)) ?? text
}

/** Returns the value of a scope field at a location, in the field's type. */
export const scopeAt = (location: Location, subject: Subject, field: DescField): unknown => {
  const text = scopeTextAt(location, subject, field.name)
  return (field.scalar === undefined ? undefined : wireKey(field, text)) ?? A_NUMBER
}

/**
 * Returns values for the scope fields of a resource. If the resource has its own parent, that parent is used.
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

/** The value of a scope field that contains no key. */
const A_NUMBER = 7

/** Returns the last part of a name. */
const idOf = ({ name }: Subject, key: string): string => name?.parse(key)?.at(-1) ?? key

/** Returns the values for which the message has a field, by local name. */
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

/** Returns the key of a returned resource. */
export const keyOf = ({ key }: Subject, message: Message | undefined): string =>
  message === undefined ? '' : keyTextIn(message, key)

/** Returns the string in a field of a response; `''` if there is none. */
export const textIn = (message: Message | undefined, field: DescField): string => {
  const value = (message as Local | undefined)?.[field.localName]
  return typeof value === 'string' ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : ''
}

/** Returns the resources in the response of a list or batch. */
export const itemsOf = (items: DescField, message: Message | undefined): readonly Message[] =>
  ((message as Local | undefined)?.[items.localName] as Message[] | undefined) ?? []
