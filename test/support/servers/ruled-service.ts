import {
  clone,
  create,
  createFileRegistry,
  type DescFile,
  type DescService,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  type MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { rule, RuleSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'

/**
 * Returns a service with changed rules for its methods.
 * @param ruleOf - returns the rule of a method by its name; undefined keeps the original rule.
 * @param more - names of methods to add. They have the types of the first method.
 */
export function ruledService(
  { typeName, file }: DescService,
  ruleOf: (method: string) => MessageInitShape<typeof RuleSchema> | undefined,
  more: readonly MessageInitShape<typeof MethodDescriptorProtoSchema>[] = [],
): DescService {
  const copy = clone(FileDescriptorProtoSchema, file.proto)
  const service = copy.service.find(({ name }) => typeName.endsWith(`.${name}`))
  const [first] = service?.method ?? []
  if (service === undefined || first === undefined) throw new TypeError(`${typeName} has no method`)
  const { inputType, outputType } = first
  const added = { service: [{ method: more.map((one) => ({ inputType, outputType, ...one })) }] }
  service.method.push(...(create(FileDescriptorProtoSchema, added).service[0]?.method ?? []))
  for (const method of service.method) {
    const given = ruleOf(method.name)
    if (given === undefined) continue
    method.options ??= create(MethodOptionsSchema)
    setExtension(method.options, rule, create(RuleSchema, given))
  }
  const known = (files: readonly DescFile[]): readonly DescFile[] =>
    files.flatMap((each) => [each, ...known(each.dependencies)])
  const files = known(file.dependencies)
  const registry = createFileRegistry(copy, (name) => files.find(({ proto }) => proto.name === name))
  return registry.getService(typeName) as DescService
}
