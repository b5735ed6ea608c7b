import {
  clone,
  createFileRegistry,
  type DescFile,
  type DescService,
  setExtension,
  create,
  type MessageInitShape,
} from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type MethodDescriptorProto,
  MethodOptionsSchema,
  OneofDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { type HttpRuleSchema, HttpRuleSchema as HttpRule } from 'ashlar-annotations/google/api/http_pb.js'

/** A .proto file that a test can change. */
export interface Altered {
  readonly file: FileDescriptorProto
  message(name: string): DescriptorProto
  addMessage(name: string): void
  method(name: string): MethodDescriptorProto
  addField(
    message: string,
    name: string,
    type?: Type,
    options?: { typeName?: string; repeated?: boolean; optional?: boolean },
  ): void
  /**
   * @param value - the type name of a message, or a scalar type.
   */
  addMap(message: string, name: string, key: Type, value: Type | string): void
  /** Adds a oneof. Its members are fields that `addField` has added. */
  addOneof(message: string, name: string, members: readonly string[]): void
  removeField(message: string, name: string): void
  bindPath(method: string, rule: MessageInitShape<typeof HttpRuleSchema>): void
}

/**
 * Returns the service as it would be generated from a changed copy of its .proto file.
 * @param imports - more files for the copy to import. A file replaces an original import with the same
 *   name.
 */
export function altered<S extends DescService>(
  service: S,
  change: (proto: Altered) => void,
  imports: readonly DescFile[] = [],
): S {
  const file = clone(FileDescriptorProtoSchema, service.file.proto)
  change(handles(file, service.name))
  for (const { proto } of imports) if (!file.dependency.includes(proto.name)) file.dependency.push(proto.name)
  const dependencies = new Map(
    [...service.file.dependencies, ...imports].map((dependency) => [dependency.proto.name, dependency]),
  )
  const registry = createFileRegistry(file, (name) => dependencies.get(name))
  return registry.getService(service.typeName) as S
}

const handles = (file: FileDescriptorProto, service: string): Altered => {
  const message = (name: string) =>
    found(
      file.messageType.find((one) => one.name === name),
      name,
    )
  const method = (name: string) =>
    found(
      found(
        file.service.find((one) => one.name === service),
        service,
      ).method.find((one) => one.name === name),
      name,
    )
  return {
    file,
    message,
    method,
    addMessage: (name) => void file.messageType.push(create(DescriptorProtoSchema, { name })),
    addField(owner, name, type = Type.STRING, { typeName = '', repeated = false, optional = false } = {}) {
      const { field, oneofDecl } = message(owner)
      const number = 1 + Math.max(0, ...field.map((one) => one.number))
      const label = repeated ? Label.REPEATED : Label.OPTIONAL
      const added = create(FieldDescriptorProtoSchema, {
        name,
        number,
        type,
        label,
        typeName,
        jsonName: name,
      })
      if (optional) {
        Object.assign(added, { proto3Optional: true, oneofIndex: oneofDecl.length })
        oneofDecl.push(create(OneofDescriptorProtoSchema, { name: `_${name}` }))
      }
      field.push(added)
    },
    addMap(owner, name, key, value) {
      const entry = `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`
      const of = typeof value === 'string' ? { type: Type.MESSAGE, typeName: value } : { type: value }
      message(owner).nestedType.push(
        create(DescriptorProtoSchema, {
          name: entry,
          field: [
            { name: 'key', number: 1, type: key, label: Label.OPTIONAL, jsonName: 'key' },
            { name: 'value', number: 2, label: Label.OPTIONAL, jsonName: 'value', ...of },
          ],
          options: { mapEntry: true },
        }),
      )
      const typeName = `.${file.package}.${owner}.${entry}`
      this.addField(owner, name, Type.MESSAGE, { typeName, repeated: true })
    },
    addOneof(owner, name, members) {
      const { field, oneofDecl } = message(owner)
      // Declared oneofs must come before the synthetic ones of optional fields.
      for (const one of field) if (one.proto3Optional) one.oneofIndex++
      oneofDecl.unshift(create(OneofDescriptorProtoSchema, { name }))
      for (const one of field) if (members.includes(one.name)) one.oneofIndex = 0
    },
    removeField(owner, name) {
      const target = message(owner)
      target.field = target.field.filter((one) => one.name !== name)
    },
    bindPath(name, rule) {
      const target = method(name)
      target.options ??= create(MethodOptionsSchema)
      setExtension(target.options, http, create(HttpRule, rule))
    },
  }
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new RangeError(`the .proto has no ${name}`)
  return value
}
