import 'reflect-metadata'
import { create, equals, type Message } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { parseJson } from '../../../lib/gateway/json/parse.js'
import { messageReader } from '../../../lib/gateway/json/reader.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { TypesService } from '../../support/gen/jsontypes_pb.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { vectors } from '../../support/values/vectors.js'
import { collated } from '../repository/open-subject.js'
import { inAcme } from './free-form-resource.js'

interface Row {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly json?: string
}

/** No field holds a number that is not finite, or a NUL character. */
const isStorable = ({ json = '' }: Row): boolean => !/(?:NaN|Infinity)"|\\u0000/.test(json)

/** Rows that do not return unchanged. */
const CHANGED = {
  'has times to the millisecond': ['pj272', 'pj273', 'pj275', 'pj276', 'pj277', 'pj278', 'pj299', 'pj300'],
  'has a Value of null as unset': ['pj338'],
}

/** A column cannot hold an Any, which an HttpBody contains. */
const types = altered(TypesService, (proto) => {
  const { field } = proto.message('AllTypes')
  for (const { name, typeName } of [...field])
    if (['.google.protobuf.Any', '.google.api.HttpBody'].includes(typeName))
      proto.removeField('AllTypes', name)
})
const AllTypes = types.file.messages.find(({ name }) => name === 'AllTypes')!

const service = altered(
  TaskService,
  (proto) => {
    for (const name of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time'])
      proto.removeField('Task', name)
    const left = ['PlanTask', 'WatchTasks', 'UndeleteTask']
    for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !left.includes(name))
    proto.addField('Task', 'worth', Type.MESSAGE, { typeName: `.${AllTypes.typeName}` })
  },
  [types.file],
)

@Resource({ message: service.method.getTask.output })
@Entity('vector_tasks')
@TenantScoped()
class Task {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 400 }) title!: string
  @Column('simple-json', { nullable: true }) worth?: object
  @ETag() etag!: string
  @Column({ length: 40 }) accountId!: string
}

const read = messageReader(AllTypes)

describe('proto3 JSON conformance vectors in a column', () => {
  const rows = vectors<Row>('proto3-json-conformance')
  if (rows === undefined) {
    it('survive', function () {
      this.skip()
    })
    return
  }
  const held = rows.flatMap((row) => {
    if (!row.kind.startsWith('valid') || row.json === undefined || /any/i.test(row.name)) return []
    try {
      return [{ ...row, message: read(parseJson(row.json), { ignoreUnknown: true } as never) as Message }]
    } catch {
      // A row that may fail, or that is about a field of another file.
      return []
    }
  })

  describeOn('survive', backends, (backend) => {
    it(`on the way into a column and back`, async () => {
      expect(held.length).to.be.greaterThan(150)
      const { dataSource, database, close } = await backend.open([Task])
      try {
        if (dataSource !== undefined && database !== undefined)
          await createTables(collated(dataSource, backend), [Task], database.dialect.name)
        const tasks = (dataSource === undefined
          ? new (memoryRepositoryOf(Task))({})
          : new (repositoryOf(Task))(dataSource)) as never as Repository<{
          id: string
          title: string
          worth?: object
        }>
        const model = resourceModel(Task)
        const { output } = service.method.getTask
        const lost: string[] = []
        const rejected: string[] = []
        await inAcme(async () => {
          for (const { id, name, message } of held) {
            const { worth } = model.fromMessage(create(output, { worth: message } as never)) as Task
            const made = await tasks.create({ id, title: name, worth } as never).catch((error: unknown) => {
              expect(error).to.be.instanceOf(InvalidArgument)
              return undefined
            })
            if (made === undefined) rejected.push(id)
          }
          const { items } = await tasks.list({ pageSize: 1000 })
          for (const { id, message } of held) {
            const item = items.find((one) => one.id === id)
            if (item === undefined) continue
            const { worth } = model.toMessage<{ worth?: Message }>(item as never)
            if (worth === undefined || !equals(AllTypes, worth, message)) lost.push(id)
          }
        })
        expect(lost).to.deep.equal(Object.values(CHANGED).flat())
        const unstorable = held.filter((row) => !isStorable(row)).map(({ id }) => id)
        expect(rejected).to.deep.equal(unstorable)
      } finally {
        await close()
      }
    })
  })
})
