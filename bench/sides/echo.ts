import { create, createFileRegistry, type DescMethod, setExtension } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import {
  file_ashlar_api_v1_annotations,
  rule,
  RuleSchema,
} from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'

export const ECHO_PATH = '/echo.v1.EchoService/Echo'
export const ECHO_BYTES = 300

/** `EchoService.Echo`, which returns its request. It requires `get` on `echo`. */
export const echoService = () => {
  const options = create(MethodOptionsSchema)
  setExtension(options, rule, create(RuleSchema, { verb: 'get', resource: 'echo' }))
  const type = '.echo.v1.Message'
  const file = create(FileDescriptorProtoSchema, {
    name: 'echo.proto',
    package: 'echo.v1',
    syntax: 'proto3',
    dependency: [file_ashlar_api_v1_annotations.proto.name],
    messageType: [
      {
        name: 'Message',
        field: [
          {
            name: 'payload',
            number: 1,
            type: FieldDescriptorProto_Type.STRING,
            label: FieldDescriptorProto_Label.OPTIONAL,
          },
        ],
      },
    ],
    service: [
      { name: 'EchoService', method: [{ name: 'Echo', inputType: type, outputType: type, options }] },
    ],
  })
  const service = createFileRegistry(file, () => file_ashlar_api_v1_annotations).getService(
    'echo.v1.EchoService',
  )
  if (service === undefined) throw new TypeError('there is no EchoService')
  return service as typeof service & { method: Record<string, DescMethod> }
}
