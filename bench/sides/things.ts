import { createFileRegistry, create, setExtension, type DescMethod } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import {
  file_ashlar_api_v1_annotations,
  rule,
  RuleSchema,
} from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import {
  field_behavior,
  FieldBehavior,
  file_google_api_field_behavior,
} from 'ashlar-annotations/google/api/field_behavior_pb.js'

export const TEXTS = ['title', 'note', 'city', 'street', 'code', 'color', 'shape', 'owner', 'shelf', 'label']

export const CHECK_PATH = '/things.v1.Things/Check'

/**
 * The service `Check(Thing)` with ten strings, the first of which are REQUIRED. It needs `get` on `thing`.
 */
export const thingsService = (required: number) => {
  const options = create(MethodOptionsSchema)
  setExtension(options, rule, create(RuleSchema, { verb: 'get', resource: 'thing' }))
  const imports = [file_google_api_field_behavior, file_ashlar_api_v1_annotations]
  const file = create(FileDescriptorProtoSchema, {
    name: 'things.proto',
    package: 'things.v1',
    syntax: 'proto3',
    dependency: imports.map(({ proto }) => proto.name),
    messageType: [
      {
        name: 'Thing',
        field: TEXTS.map((name, index) => {
          const options = create(FieldOptionsSchema)
          if (index < required) setExtension(options, field_behavior, [FieldBehavior.REQUIRED])
          const [type, label] = [FieldDescriptorProto_Type.STRING, FieldDescriptorProto_Label.OPTIONAL]
          return { name, number: index + 1, type, label, options }
        }),
      },
    ],
    service: [
      {
        name: 'Things',
        method: [{ name: 'Check', inputType: '.things.v1.Thing', outputType: '.things.v1.Thing', options }],
      },
    ],
  })
  const service = createFileRegistry(file, (name) =>
    imports.find(({ proto }) => proto.name === name),
  ).getService('things.v1.Things')
  if (service === undefined) throw new TypeError('there is no service')
  return service as typeof service & { method: Record<string, DescMethod> }
}
