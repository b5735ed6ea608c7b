import {
  create,
  createFileRegistry,
  type DescMethod,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, MethodOptionsSchema } from '@bufbuild/protobuf/wkt'
import { file_google_api_annotations, http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { HttpRuleSchema } from 'ashlar-annotations/google/api/http_pb.js'
import { file_jsontypes } from '../support/gen/jsontypes_pb.js'

export interface RuleCase {
  readonly rule: MessageInitShape<typeof HttpRuleSchema>
  readonly clientStreaming?: boolean
}

/**
 * Methods `One`, `Two`, ... over jsontypes' AllTypes with these HTTP rules: what a .proto with mistakes would
 * give.
 */
export function methodsOfRules(...cases: readonly RuleCase[]): readonly DescMethod[] {
  const file = create(FileDescriptorProtoSchema, {
    name: 'rules.proto',
    package: 'rules.v1',
    syntax: 'proto3',
    dependency: [file_google_api_annotations.proto.name, file_jsontypes.proto.name],
    service: [
      {
        name: 'RulesService',
        method: cases.map(({ rule, clientStreaming = false }, index) => {
          const options = create(MethodOptionsSchema)
          setExtension(options, http, create(HttpRuleSchema, rule))
          const type = '.jsontypes.v1.AllTypes'
          return { name: `M${index}`, inputType: type, outputType: type, options, clientStreaming }
        }),
      },
    ],
  })
  const known = [file_google_api_annotations, file_jsontypes]
  const registry = createFileRegistry(file, (name) => known.find(({ proto }) => proto.name === name))
  return registry.getService('rules.v1.RulesService')?.methods ?? []
}
