import { create, createFileRegistry } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

/** The descriptor of `EchoService.Echo` for protobuf-es. */
const payload = {
  name: 'payload',
  number: 1,
  type: FieldDescriptorProto_Type.STRING,
  label: FieldDescriptorProto_Label.OPTIONAL,
}
const file = create(FileDescriptorProtoSchema, {
  name: 'echo.proto',
  package: 'echo.v1',
  syntax: 'proto3',
  messageType: [{ name: 'Message', field: [payload] }],
  service: [
    {
      name: 'EchoService',
      method: [{ name: 'Echo', inputType: '.echo.v1.Message', outputType: '.echo.v1.Message' }],
    },
  ],
})
const registry = createFileRegistry(file, () => undefined)

export const EchoService = registry.getService('echo.v1.EchoService')
export const MessageSchema = registry.getMessage('echo.v1.Message')
