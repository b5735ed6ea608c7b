import 'reflect-metadata'
import { setExtension } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  FieldDescriptorProto_Type as Type,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  OneofOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { create } from '@bufbuild/protobuf'
import { oneof, OneofRulesSchema } from 'ashlar-annotations/buf/validate/validate_pb.js'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Backend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { Phase, TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { collated } from '../repository/open-subject.js'

const UNUSED = ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time']
const LEFT = ['PlanTask', 'WatchTasks', 'UndeleteTask']
const MEMBERS = ['email', 'seats', 'phase', 'due', 'place', 'nick', 'extra'] as const

const demand = (message: DescriptorProto): void => {
  const found = message.oneofDecl[0]!
  found.options = create(OneofOptionsSchema)
  setExtension(found.options, oneof, create(OneofRulesSchema, { required: true }))
}

/** A service whose resource has a oneof of scalars, an enum and messages. */
export const serviceWith = (isDemanded: boolean): typeof TaskService =>
  altered(
    TaskService,
    (proto) => {
      for (const name of UNUSED) proto.removeField('Task', name)
      for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !LEFT.includes(name))
      const message = (typeName: string) => [Type.MESSAGE, { typeName }] as const
      proto.addField('Task', 'email')
      proto.addField('Task', 'seats', Type.INT64)
      proto.addField('Task', 'phase', Type.ENUM, { typeName: '.plans.v1.Phase' })
      proto.addField('Task', 'due', ...message('.google.protobuf.Timestamp'))
      proto.addField('Task', 'place', ...message('.plans.v1.Country'))
      proto.addField('Task', 'nick', ...message('.google.protobuf.StringValue'))
      proto.addField('Task', 'extra', ...message('.google.protobuf.Struct'))
      proto.addOneof('Task', 'contact', MEMBERS)
      if (isDemanded) demand(proto.message('Task'))
    },
    [file_google_protobuf_struct, file_google_protobuf_timestamp, file_google_protobuf_wrappers],
  )

export const service = serviceWith(false)

/** Declares the resource. @param table - of its own, so that tests do not share events. */
export function taskIn(table: string, of = service, isExisting = false) {
  @Resource({
    message: of.method.getTask.output,
    ...(isExisting && { existing: true, naming: 'typeorm' as const }),
  })
  @Entity(table)
  @TenantScoped()
  @Emits({ include: 'before' })
  class Task {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ length: 40 }) title!: string
    @Column({ length: 40, nullable: true }) email?: string
    @Column('bigint', { nullable: true }) seats?: bigint
    @Column({ type: 'varchar', length: 20, nullable: true }) phase?: Phase
    @Column({ nullable: true }) due?: Date
    @Column('simple-json', { nullable: true }) place?: { id: string; title: string }
    @Column({ type: String, length: 40, nullable: true }) nick?: string
    @Column('simple-json', { nullable: true }) extra?: object
    @ETag() etag!: string
    @Column({ length: 40 }) accountId!: string
  }
  return Task
}

export type TaskClass = ReturnType<typeof taskIn>
export type Task = InstanceType<TaskClass>

/** The members in their order, each with two values: of the entity, and of JSON. */
export const VALUES = [
  ['email', 'a@example.com', 'a@example.com', 'b@example.com', 'b@example.com'],
  ['seats', 0n, '0', 7n, '7'],
  ['phase', Phase.ACTIVE, 'ACTIVE', Phase.PHASE_UNSPECIFIED, 'PHASE_UNSPECIFIED'],
  ['due', new Date(0), '1970-01-01T00:00:00Z', new Date(86_400_000), '1970-01-02T00:00:00Z'],
  ['place', { id: 'de', title: '' }, { id: 'de', title: '' }, { id: '', title: '' }, { id: '', title: '' }],
  ['nick', '', '', 'al', 'al'],
  ['extra', { a: 1 }, { a: 1 }, {}, {}],
] as const satisfies readonly (readonly [(typeof MEMBERS)[number], unknown, unknown, unknown, unknown])[]

export const membersOf = (entity: object): Record<string, unknown> =>
  Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value: unknown = Reflect.get(entity, name)
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )

export interface OpenTasks {
  readonly tasks: Repository<Task>
  readonly dataSource: DataSource | undefined
  close(): Promise<void>
}

export async function openTasks(backend: Backend, entity: TaskClass): Promise<OpenTasks> {
  const { dataSource, database, close } = await backend.open([entity])
  if (dataSource === undefined || database === undefined)
    return { tasks: new (memoryRepositoryOf(entity))({}) as never, dataSource, close }
  try {
    await applyBaseline(dataSource)
    await createTables(collated(dataSource, backend), [entity], database.dialect.name)
    return { tasks: new (repositoryOf(entity))(dataSource) as never, dataSource, close }
  } catch (error) {
    await close()
    throw error
  }
}
