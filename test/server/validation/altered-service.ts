import {
  clone,
  create,
  createFileRegistry,
  type DescFile,
  type DescService,
  setExtension,
} from '@bufbuild/protobuf'
import type { GenExtension } from '@bufbuild/protobuf/codegenv2'
import {
  type DescriptorProto,
  type FieldOptions,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

/** A service of a .proto that differs in an option of a field. */
export function withOption<Value>(
  service: DescService,
  path: `${string}.${string}`,
  option: GenExtension<FieldOptions, Value>,
  value: Value,
): DescService {
  const [messageName, fieldName] = path.split('.')
  const proto = clone(FileDescriptorProtoSchema, service.file.proto)
  const message = proto.messageType.find(({ name }) => name === messageName) as DescriptorProto
  const field = message.field.find(({ name }) => name === fieldName)
  if (field === undefined) throw new TypeError(`there is no ${path}`)
  field.options ??= create(FieldOptionsSchema)
  setExtension(field.options, option, value)
  const files = new Map<string, DescFile['proto']>()
  const add = (file: DescFile): void => {
    files.set(file.proto.name, file.proto)
    for (const dependency of file.dependencies) add(dependency)
  }
  for (const dependency of service.file.dependencies) add(dependency)
  return createFileRegistry(proto, (name) => files.get(name)).getService(service.typeName) as DescService
}
