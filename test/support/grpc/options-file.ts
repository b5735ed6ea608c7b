import { create, createFileRegistry, type DescFile } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  file_google_protobuf_descriptor as descriptor,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

/**
 * Returns a file that declares a method option or field option, as the Go framework does.
 * @param name - the full name of the option.
 */
export function optionsFile(
  number: number,
  name: string,
  extendee: 'MethodOptions' | 'FieldOptions' = 'FieldOptions',
): DescFile {
  const at = name.lastIndexOf('.')
  const [pkg, short] = [name.slice(0, at), name.slice(at + 1)]
  const bool = (member: string, memberNumber: number) => ({
    ...{ name: member, number: memberNumber, jsonName: member, type: Type.BOOL, label: Label.OPTIONAL },
  })
  const text = (member: string, memberNumber: number) => ({
    ...{ name: member, number: memberNumber, jsonName: member, type: Type.STRING, label: Label.OPTIONAL },
  })
  const members =
    extendee === 'FieldOptions'
      ? [bool('secret', 1), bool('credential', 10)]
      : [text('verb', 1), text('resource', 2), bool('public', 3)]
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: `${pkg.replaceAll('.', '/')}/${short}.proto`, package: pkg, syntax: 'proto3' },
    dependency: [descriptor.proto.name],
    messageType: [{ name: 'Options', field: members }],
    extension: [
      {
        ...{ name: short, number, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: `.${pkg}.Options` },
        extendee: `.google.protobuf.${extendee}`,
      },
    ],
  })
  return createFileRegistry(file, (path) =>
    path === descriptor.proto.name ? descriptor : undefined,
  ).getFile(file.name) as DescFile
}
