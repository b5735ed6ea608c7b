import {
  create,
  createFileRegistry,
  type DescFile,
  type DescService,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { file_google_api_annotations, http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { file_google_longrunning_operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { HttpRuleSchema } from 'ashlar-annotations/google/api/http_pb.js'

/**
 * Field types by field name: `'string'`, `'repeated string'`, `'.package.Message'`, `'repeated
 * .package.Message'`.
 */
export type Fields = Readonly<Record<string, string>>

export interface MethodText {
  readonly input: string
  readonly output: string
  readonly http: MessageInitShape<typeof HttpRuleSchema>
  readonly streams?: boolean
}

export interface FileText {
  readonly package: string
  readonly messages: Readonly<Record<string, Fields>>
  readonly service: string
  readonly methods: Readonly<Record<string, MethodText>>
  /** The comment above the service. */
  readonly comment?: string
}

/** Returns services like those generated from a .proto file, but without running a compiler. */
export function servicesOf(...files: readonly FileText[]): readonly DescService[] {
  const known = new Map<string, DescFile>(
    [
      ...[file_google_api_annotations, file_google_longrunning_operations],
      ...[file_google_protobuf_timestamp, file_google_protobuf_struct],
    ].flatMap(withImports),
  )
  return files.map((file) => {
    const proto = fileProto(file)
    const registry = createFileRegistry(proto, (name) => known.get(name))
    const found = registry.getService(`${file.package}.${file.service}`)
    if (found === undefined) throw new Error(`no ${file.service}`)
    return found
  })
}

const withImports = (file: DescFile): [string, DescFile][] => [
  [`${file.name}.proto`, file],
  ...file.dependencies.flatMap(withImports),
]

const IMPORTS = [
  'google/api/annotations.proto',
  'google/longrunning/operations.proto',
  'google/protobuf/timestamp.proto',
  'google/protobuf/struct.proto',
]

function fileProto({ package: name, messages, service, methods, comment }: FileText) {
  return create(FileDescriptorProtoSchema, {
    name: `${name.replaceAll('.', '/')}.proto`,
    package: name,
    syntax: 'proto3',
    dependency: IMPORTS,
    messageType: Object.entries(messages).map(([message, fields]) => ({
      name: message,
      field: Object.entries(fields).map(([field, text], index) => fieldProto(field, text, index + 1)),
    })),
    service: [
      {
        name: service,
        method: Object.entries(methods).map(([method, { input, output, http: rule, streams = false }]) => {
          const options = create(MethodOptionsSchema)
          setExtension(options, http, create(HttpRuleSchema, rule))
          const type = (text: string) => (text.startsWith('.') ? text : `.${name}.${text}`)
          return {
            name: method,
            inputType: type(input),
            outputType: type(output),
            serverStreaming: streams,
            options,
          }
        }),
      },
    ],
    ...(comment !== undefined && {
      sourceCodeInfo: { location: [{ path: [6, 0], span: [0, 0, 0], leadingComments: comment }] },
    }),
  })
}

function fieldProto(name: string, text: string, number: number) {
  const isRepeated = text.startsWith('repeated ')
  const type = isRepeated ? text.slice('repeated '.length) : text
  const label = isRepeated ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL
  const jsonName = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  if (type.startsWith('.'))
    return { name, number, label, jsonName, type: FieldDescriptorProto_Type.MESSAGE, typeName: type }
  const scalar = FieldDescriptorProto_Type[type.toUpperCase() as 'STRING']
  return { name, number, label, jsonName, type: scalar }
}
