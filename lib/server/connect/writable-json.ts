import {
  clone,
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import {
  type Any,
  AnySchema,
  type FieldMask,
  FieldMaskSchema,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { jsonPaths, nameable } from '../../gateway/json/field-mask-text.js'
import { holdsField } from '../../resource/behavior/field-behavior.js'

/**
 * Returns a registry for writing JSON. A google.protobuf.Any of an unregistered type, which only a newer
 * release knows, is written with `@type` alone. Otherwise it would fail the whole response.
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

/** The maximum nesting depth of messages that are checked. */
const MAX_NESTED = 20

const fixing = new WeakMap<DescMessage, boolean>()

/** The types that the package may fail to write as JSON. */
const FAILING: ReadonlySet<string> = new Set([AnySchema.typeName, FieldMaskSchema.typeName])

/** Returns true if messages of the type can contain one of the failing types. */
function mayFail(desc: DescMessage): boolean {
  const known = fixing.get(desc)
  if (known !== undefined) return known
  const may =
    FAILING.has(desc.typeName) ||
    holdsField(desc, ({ message }) => message !== undefined && FAILING.has(message.typeName))
  fixing.set(desc, may)
  return may
}

/**
 * Returns a message that can be written as JSON. The content of an unreadable google.protobuf.Any is removed,
 * and the paths of a FieldMask are made convertible. Either could otherwise fail the whole response.
 */
export function writableJson(desc: DescMessage, message: Message, types: Registry): Message {
  if (!mayFail(desc)) return message
  const copy = clone(desc, message)
  repair(reflect(desc, copy), NO_MESSAGES, types, 0)
  return copy
}

const NO_MESSAGES: readonly DescMessage[] = []

/** @param beside - the messages whose fields a mask may name. */
function repair(
  message: ReflectMessage,
  beside: readonly DescMessage[],
  types: Registry,
  depth: number,
): void {
  const { typeName } = message.desc
  if (typeName === AnySchema.typeName) return repairAny(message.message as Any, types, depth)
  if (typeName === FieldMaskSchema.typeName) return repairMask(message.message as FieldMask, beside)
  for (const field of message.fields)
    if (field.message !== undefined && mayFail(field.message) && message.isSet(field))
      for (const one of messagesIn(message, field)) repair(one, nameable(field), types, depth)
}

function* messagesIn(message: ReflectMessage, field: DescField): Iterable<ReflectMessage> {
  if (field.fieldKind === 'list') yield* message.get(field) as Iterable<ReflectMessage>
  else if (field.fieldKind === 'map') yield* message.get(field).values() as Iterable<ReflectMessage>
  else if (field.fieldKind === 'message') yield message.get(field)
}

/**
 * Replaces the mask's paths so that protobuf-es can write them. It writes the result of `paths.map()`, and
 * rejects a path that does not survive the conversion to camelCase and back. Inside an Any it uses the paths
 * themselves, so these are convertible.
 */
function repairMask(mask: FieldMask, beside: readonly DescMessage[]): void {
  const json = jsonPaths(mask.paths, beside)
  mask.paths = Object.assign(json.map(reversible), { map: () => json })
}

/** `addressLine2` → `address_line2`. */
const reversible = (json: string): string =>
  json
    .replace(/_+([^_.]?)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function repairAny(any: Any, types: Registry, depth: number): void {
  const desc = types.getMessage(any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1))
  const inner = desc === undefined || depth === MAX_NESTED ? undefined : contentOf(desc, any)
  if (desc === undefined || inner === undefined) any.value = new Uint8Array()
  else if (mayFail(desc)) {
    repair(reflect(desc, inner), NO_MESSAGES, types, depth + 1)
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
