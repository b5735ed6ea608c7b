import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'

/** A generated message with access to its fields by name. */
export type Local = Message & Record<string, unknown>

/** A oneof in a generated message. */
export interface Choice {
  readonly case: string | undefined
  readonly value?: unknown
}

/** Sets a field of a generated message. */
export function setField(message: Message, field: DescField, value: unknown): void {
  const local = message as Local
  if (field.oneof === undefined) local[field.localName] = value
  else local[field.oneof.localName] = { case: field.localName, value }
}

/** Returns the value of a field; undefined if another member of its oneof is set. */
export function getField(message: Message, field: DescField): unknown {
  const local = message as Local
  if (field.oneof === undefined) return local[field.localName]
  const choice = local[field.oneof.localName] as Choice
  return choice.case === field.localName ? choice.value : undefined
}

/** Returns the message in a singular message field, and creates it if it is unset. */
export function ensureMessage(
  message: Message,
  field: DescField & { readonly message: DescMessage },
): Message {
  const present = getField(message, field)
  if (present !== undefined) return present as Message
  const child = create(field.message)
  setField(message, field, child)
  return child
}

/** Returns true if generated code stores the plain value instead of a google.protobuf wrapper message. */
export const isUnwrapped = (field: DescField): field is DescField & { readonly message: DescMessage } =>
  field.fieldKind === 'message' && field.oneof === undefined && isWrapperDesc(field.message)

/** Returns true if generated code stores a plain object instead of a google.protobuf.Struct. */
export const isPlainObject = (field: DescField): boolean =>
  field.message?.typeName === 'google.protobuf.Struct' && field.parent.typeName !== 'google.protobuf.Value'

/** Sets a property whose name is input. `__proto__` is treated as an ordinary name. */
export function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
