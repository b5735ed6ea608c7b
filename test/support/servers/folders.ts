import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescService,
  setExtension,
} from '@bufbuild/protobuf'
import {
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  file_google_protobuf_empty,
  file_google_protobuf_timestamp,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import {
  FieldBehavior,
  field_behavior,
  file_google_api_field_behavior,
} from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { file_google_longrunning_operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { Rule } from '../../../lib/server/authz/rules.js'

const field = (
  name: string,
  number: number,
  { type = Type.STRING, repeated = false, typeName = '', output = false } = {},
): FieldDescriptorProto => {
  const options = create(FieldOptionsSchema)
  if (output) setExtension(options, field_behavior, [FieldBehavior.OUTPUT_ONLY])
  const label = repeated ? Label.REPEATED : Label.OPTIONAL
  return create(FieldDescriptorProtoSchema, { name, number, type, typeName, label, options })
}

const TIME = { type: Type.MESSAGE, typeName: '.google.protobuf.Timestamp', output: true }
const WRITES = [field('validate_only', 8, { type: Type.BOOL }), field('request_id', 9)]
const FORCE = field('force', 3, { type: Type.BOOL })
const EMPTY = '.google.protobuf.Empty'
const OPERATION = '.google.longrunning.Operation'

const method = (name: string, outputType: string) => ({
  name,
  inputType: `.folders.v1.${name}Request`,
  outputType,
})

const file = create(FileDescriptorProtoSchema, {
  name: 'folders.proto',
  package: 'folders.v1',
  syntax: 'proto3',
  dependency: [
    file_google_protobuf_empty,
    file_google_protobuf_timestamp,
    file_google_api_field_behavior,
    file_google_longrunning_operations,
  ].map(({ proto }) => proto.name),
  messageType: [
    {
      name: 'Folder',
      field: [
        field('id', 1),
        field('title', 2),
        field('etag', 3, { output: true }),
        field('account_id', 4, { output: true }),
        field('delete_time', 5, TIME),
      ],
    },
    { name: 'GetFolderRequest', field: [field('id', 1)] },
    { name: 'DeleteFolderRequest', field: [field('id', 1), field('etag', 2), FORCE, ...WRITES] },
    { name: 'UndeleteFolderRequest', field: [field('id', 1), field('etag', 2), ...WRITES] },
    { name: 'BatchDeleteFoldersRequest', field: [field('ids', 1, { repeated: true }), FORCE, ...WRITES] },
  ],
  service: [
    {
      name: 'FolderService',
      method: [
        method('GetFolder', '.folders.v1.Folder'),
        method('DeleteFolder', EMPTY),
        method('UndeleteFolder', '.folders.v1.Folder'),
        method('BatchDeleteFolders', EMPTY),
      ],
    },
    {
      name: 'BulkService',
      method: [
        method('DeleteFolder', OPERATION),
        method('UndeleteFolder', OPERATION),
        method('BatchDeleteFolders', OPERATION),
      ],
    },
  ],
})

const known = [
  file_google_protobuf_empty,
  file_google_protobuf_timestamp,
  file_google_api_field_behavior,
  file_google_longrunning_operations,
]
const registry = createFileRegistry(file, (name) => known.find(({ proto }) => proto.name === name))

/** A service of folders. Deleting a folder also deletes its contents. */
export const FolderService = registry.getService('folders.v1.FolderService') as DescService
/** The same service with methods that return operations. */
export const BulkService = registry.getService('folders.v1.BulkService') as DescService

const VERBS: Readonly<Record<string, string>> = {
  GetFolder: 'get',
  DeleteFolder: 'delete',
  UndeleteFolder: 'undelete',
  BatchDeleteFolders: 'delete',
}

export const folderRules: readonly Rule[] = [FolderService, BulkService].flatMap(({ typeName, methods }) =>
  methods.map(({ name }) => ({
    method: `/${typeName}/${name}`,
    verb: VERBS[name] as string,
    resource: 'folder',
  })),
)

@Resource({ message: registry.getMessage('folders.v1.Folder') as DescMessage })
@Entity('folders')
@TenantScoped()
@SoftDeletable()
export class Folder {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column() title!: string
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

/** A resource that is deleted with its folder. */
@Resource()
@Entity('papers')
@TenantScoped()
@SoftDeletable()
export class Paper {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) folderId!: string
  @ManyToOne(() => Folder, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'folder_id' })
  folder?: Folder
  accountId!: string
  deleteTime?: Date
}

/** A resource that belongs to a paper. A paper that has marks cannot be deleted. */
@Resource()
@Entity('marks')
@TenantScoped()
@SoftDeletable()
export class Mark {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) paperId!: string
  @ManyToOne(() => Paper)
  @JoinColumn({ name: 'paper_id' })
  paper?: Paper
  accountId!: string
  deleteTime?: Date
}
