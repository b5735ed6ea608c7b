import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'

/** A generated message seen as its properties. */
export type Local = Message & Record<string, unknown>

/** A oneof as a generated message holds it. */
export interface Choice {
  readonly case: string | undefined
  readonly value?: unknown
}

/** Puts a value where generated code keeps the field. */
export function setField(message: Message, field: DescField, value: unknown): void {
  const local = message as Local
  if (field.oneof === undefined) local[field.localName] = value
  else local[field.oneof.localName] = { case: field.localName, value }
}

/** The value of the field in generated code; undefined if another field of its oneof is set. */
export function getField(message: Message, field: DescField): unknown {
  const local = message as Local
  if (field.oneof === undefined) return local[field.localName]
  const choice = local[field.oneof.localName] as Choice
  return choice.case === field.localName ? choice.value : undefined
}

/** The message in a singular message field, created when it is absent. */
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

/** True if generated code keeps the bare value instead of a google.protobuf wrapper message. */
export const isUnwrapped = (field: DescField): field is DescField & { readonly message: DescMessage } =>
  field.fieldKind === 'message' && field.oneof === undefined && isWrapperDesc(field.message)

/** True if generated code keeps a plain object instead of a google.protobuf.Struct. */
export const isPlainObject = (field: DescField): boolean =>
  field.message?.typeName === 'google.protobuf.Struct' && field.parent.typeName !== 'google.protobuf.Value'

/** Sets a property whose name comes from the caller; `__proto__` is a name like any other. */
export function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
