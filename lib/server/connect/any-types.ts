import {
  clone,
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { type Any, AnySchema, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'

/**
 * For writing alone: a google.protobuf.Any of a type that is not registered, because only a newer image knows
 * it, is written with its `@type` and nothing else. Otherwise it would fail the whole response.
 */
export const withUnknownTypes = (types: Registry): Registry =>
  Object.assign(Object.create(types) as Registry, {
    getMessage: (name: string) => types.getMessage(name) ?? emptyMessage(name),
  })

const emptyMessage = (typeName: string): DescMessage | undefined => {
  const end = typeName.lastIndexOf('.')
  const file = create(FileDescriptorProtoSchema, {
    name: 'unknown.proto',
    package: typeName.slice(0, Math.max(end, 0)),
    syntax: 'proto3',
    messageType: [{ name: typeName.slice(end + 1) }],
  })
  return createFileRegistry(file, () => undefined).getMessage(typeName)
}

/** The deepest nesting that is read. */
const MOST_NESTED = 20

const holding = new WeakMap<DescMessage, boolean>()

/** Whether a message of the type can hold a google.protobuf.Any. */
function canHoldAny(desc: DescMessage): boolean {
  const known = holding.get(desc)
  if (known !== undefined) return known
  holding.set(desc, desc.typeName === AnySchema.typeName) // ends the recursion of a message that contains itself
  const holds =
    desc.typeName === AnySchema.typeName ||
    desc.fields.some(({ message }) => message !== undefined && canHoldAny(message))
  holding.set(desc, holds)
  return holds
}

/**
 * The message, in which each google.protobuf.Any that cannot be read has no content: it would fail the whole
 * response.
 */
export function withReadableAnys(desc: DescMessage, message: Message, types: Registry): Message {
  if (!canHoldAny(desc)) return message
  const copy = clone(desc, message)
  emptyUnreadable(reflect(desc, copy), types, 0)
  return copy
}

function emptyUnreadable(message: ReflectMessage, types: Registry, depth: number): void {
  if (message.desc.typeName === AnySchema.typeName) return readAny(message.message as Any, types, depth)
  for (const field of message.fields)
    if (field.message !== undefined && canHoldAny(field.message) && message.isSet(field)) {
      if (field.fieldKind === 'message') emptyUnreadable(message.get(field), types, depth)
      else if (field.fieldKind === 'list')
        for (const one of message.get(field)) emptyUnreadable(one as ReflectMessage, types, depth)
      else for (const one of message.get(field).values()) emptyUnreadable(one as ReflectMessage, types, depth)
    }
}

function readAny(any: Any, types: Registry, depth: number): void {
  const desc = types.getMessage(any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1))
  const inner = desc === undefined || depth === MOST_NESTED ? undefined : contentOf(desc, any)
  if (desc === undefined || inner === undefined) any.value = new Uint8Array()
  else if (canHoldAny(desc)) {
    emptyUnreadable(reflect(desc, inner), types, depth + 1)
    any.value = toBinary(desc, inner)
  }
}

function contentOf(desc: DescMessage, { value }: Any): Message | undefined {
  try {
    return fromBinary(desc, value)
  } catch {
    return undefined
  }
}
