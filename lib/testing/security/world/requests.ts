import { clone, create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { Local } from '../../../resource/messages/local-field.js'
import type { Standard, Subject } from './subjects.js'

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

/** The request of a standard method. */
export const requestFor = (subject: Subject, { desc, standard }: Standard, asking: Asking): Message => {
  const { key = '', keys = [key], entity = create(subject.message), mask = [] } = asking
  const init: Record<string, unknown> = withFields(desc.input, {
    ...scopeOf(subject, standard.kind === 'list' ? key : keys[0]),
    ...asking.fields,
  })
  const keyed = (one: string): Message => {
    const message = clone(subject.message, entity)
    Object.assign(message, { [subject.key.localName]: one })
    return message
  }
  switch (standard.kind) {
    case 'get':
    case 'delete':
    case 'undelete':
      init[standard.key.localName] = key
      break
    case 'batchGet':
    case 'batchDelete':
      init[standard.keys.localName] = [...keys]
      break
    case 'create':
      init[standard.resource.localName] = keyed(key)
      if (standard.id !== undefined) init[standard.id.localName] = idOf(subject, key)
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

/** The parent of a name; undefined for a key that is no name of the resource. */
export const parentIn = ({ name }: Subject, key: string): string | undefined =>
  name?.parent === undefined || name.parse(key) === undefined
    ? undefined
    : key.split('/').slice(0, name.parent.text.split('/').length).join('/')

/** Values for the fields that locate a resource. One that is in a parent of its own is asked for there. */
const scopeOf = (subject: Subject, key = ''): Readonly<Record<string, string | number>> => {
  const parent = parentIn(subject, key)
  return Object.fromEntries(
    [...subject.scope].map(([field, value]) => [
      field,
      parent !== undefined && value === subject.sharedParent ? parent : value,
    ]),
  )
}

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
export const keyOf = (subject: Subject, message: Message | undefined): string => textIn(message, subject.key)

/** The text in a field of a response, `''` when there is none. */
export const textIn = (message: Message | undefined, field: DescField): string => {
  const value = (message as Local | undefined)?.[field.localName]
  return typeof value === 'string' ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : ''
}

/** The resources that a list or batch returned. */
export const itemsOf = (items: DescField, message: Message | undefined): readonly Message[] =>
  ((message as Local | undefined)?.[items.localName] as Message[] | undefined) ?? []
