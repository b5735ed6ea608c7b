import 'reflect-metadata'
import { FieldDescriptorProto_Type as Type, file_google_protobuf_struct } from '@bufbuild/protobuf/wkt'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Backend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { collated } from '../repository/open-subject.js'

const UNUSED = ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time']
const LEFT = ['PlanTask', 'WatchTasks', 'UndeleteTask']

/** A service whose resource has free-form JSON. */
export const service = altered(
  TaskService,
  (proto) => {
    for (const name of UNUSED) proto.removeField('Task', name)
    for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !LEFT.includes(name))
    const message = (typeName: string) => [Type.MESSAGE, { typeName }] as const
    proto.addField('Task', 'settings', ...message('.google.protobuf.Struct'))
    proto.addField('Task', 'extra', ...message('.google.protobuf.Value'))
    proto.addField('Task', 'steps', ...message('.google.protobuf.ListValue'))
  },
  [file_google_protobuf_struct],
)

/** Declares the resource. @param table - of its own, so that tests do not share events. */
export function taskIn(
  table: string,
  emits?: Parameters<typeof Emits>[0],
  existing?: 'json' | 'jsonb' | 'simple-json',
) {
  const type = existing ?? 'simple-json'
  @Resource({
    message: service.method.getTask.output,
    ...(existing !== undefined && { existing: true, naming: 'typeorm' }),
  })
  @Entity(table)
  @TenantScoped()
  @(emits === undefined ? () => {} : Emits(emits))
  class Task {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ length: 40 }) title!: string
    @Column(type, { nullable: true }) settings?: object
    @Column(type, { nullable: true }) extra?: unknown
    @Column(type, { nullable: true }) steps?: unknown[]
    @ETag() etag!: string
    @Column({ length: 40 }) accountId!: string
  }
  return Task
}

export type TaskClass = ReturnType<typeof taskIn>
export type Task = InstanceType<TaskClass>

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

export const inAcme = <T>(run: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'alice' }, run)
