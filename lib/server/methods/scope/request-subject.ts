import type { DescField, Message } from '@bufbuild/protobuf'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { sentText } from '../../../text/sent-text.js'
import { valueOf } from '../../chain/method.js'
import type { RequestSubject } from '../../chain/named-errors.js'

/** The maximum length of client input in a message. */
const MAX_CHARACTERS = 128

/** The fields in which a standard method's request names resources. */
interface NamingFields {
  readonly kind: string
  readonly key?: DescField
  readonly keys?: DescField
  readonly id?: DescField | undefined
  readonly resource?: DescField
  readonly requests?: DescField
}

/**
 * Returns the subject of a request for error messages; undefined for a list. It depends on the request alone
 * and reveals nothing about rows: missing rows, rows of another tenant and excluded rows produce the same
 * text, and a batch does not reveal which of its rows is affected.
 */
export const requestSubject = (
  method: NamingFields,
  { message, name, key }: ResourceModel,
): RequestSubject | undefined => {
  const own = name?.field ?? message?.fields.find((field) => field.name === key.proto)
  const keysOf = keysIn(method, own)
  if (message === undefined || keysOf === undefined) return undefined
  return {
    nameOf: (request) => [message.name, shown(keysOf(request))].filter((text) => text !== '').join(' '),
    keys: method.kind === 'create' ? [key.proto, ...(name === undefined ? [] : [name.field.name])] : [],
  }
}

const keysIn = (
  { key, keys, id, resource, requests }: NamingFields,
  own: DescField | undefined,
): ((request: Message) => readonly string[]) | undefined => {
  if (keys !== undefined) return (request) => (valueOf(request, keys) as readonly unknown[]).map(textOf)
  if (key !== undefined) return (request) => [textOf(valueOf(request, key))]
  if (id !== undefined) return (request) => [textIn(request, id)]
  if (resource === undefined) return undefined
  const within = (request: Message): string => {
    const entity = valueOf(request, resource)
    return entity === undefined || own === undefined ? '' : textIn(entity as Message, own)
  }
  if (requests === undefined) return (request) => [within(request)]
  return (request) => (valueOf(request, requests) as readonly Message[]).map(within)
}

/** Returns the field's value as a string, `''` for an unset number. */
const textIn = (message: Message, field: DescField): string => textOf(valueOf(message, field) || '')

/** Converts a key, which is a string or an integer, to a string. */
const textOf = (value: unknown): string => String((value ?? '') as string | number | bigint)

/** Formats the keys, as many as the maximum length permits. */
const shown = (keys: readonly string[]): string => {
  const [first = ''] = keys
  if (first === '') return ''
  if (keys.length === 1) return sentText(first, MAX_CHARACTERS)
  let text = ''
  for (const [index, key] of keys.entries()) {
    const before = index === 0 ? '' : index === keys.length - 1 ? ' or ' : ', '
    const next = `${before}${sentText(key, MAX_CHARACTERS / 2)}`
    if (text.length + next.length > MAX_CHARACTERS) return `${text} or one of ${keys.length - index} more`
    text += next
  }
  return text
}
