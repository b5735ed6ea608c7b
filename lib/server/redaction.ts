import {
  clone,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
} from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { field as fieldOption } from '../gen/ashlar/api/v1/annotations_pb.js'

/** Whether a field holds a secret or a credential. */
export type IsSecret = (field: DescField) => boolean

/** By the `ashlar.api.v1.field` option. */
export const isMarkedSecret: IsSecret = (field) =>
  hasOption(field, fieldOption) && getOption(field, fieldOption).secret

/** The message without the values of its secret fields, however deep: a copy, or itself where it can hold none. */
export const redacted = (message: Message, desc: DescMessage, isSecret: IsSecret): Message => {
  if (!holdsSecret(desc, isSecret, new Set())) return message
  const copy = clone(desc, message)
  clear(reflect(desc, copy), isSecret)
  return copy
}

const holdsSecret = (desc: DescMessage, isSecret: IsSecret, seen: Set<DescMessage>): boolean => {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) => isSecret(field) || (field.message !== undefined && holdsSecret(field.message, isSecret, seen)),
  )
}

const clear = (message: ReflectMessage, isSecret: IsSecret): void => {
  for (const field of message.fields) {
    if (isSecret(field)) message.clear(field)
    else if (message.isSet(field)) for (const inner of messagesIn(message, field)) clear(inner, isSecret)
  }
}

const messagesIn = (message: ReflectMessage, field: DescField): Iterable<ReflectMessage> => {
  if (field.fieldKind === 'message') return [message.get(field)]
  if (field.fieldKind === 'list' && field.listKind === 'message')
    return message.get(field) as Iterable<ReflectMessage>
  if (field.fieldKind === 'map' && field.mapKind === 'message')
    return message.get(field).values() as Iterable<ReflectMessage>
  return []
}
