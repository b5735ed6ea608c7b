import { createFileRegistry, create, type DescMessage, type Registry } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'

/**
 * For writing alone: a google.protobuf.Any of a type that is not registered, because only a newer image knows it, is written with its
 * `@type` and nothing else. Otherwise it would fail the whole response.
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
