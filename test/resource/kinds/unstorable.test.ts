import { create } from '@bufbuild/protobuf'
import {
  type Any,
  anyPack,
  DurationSchema,
  FieldDescriptorProto_Type as Type,
  file_google_protobuf_any,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Computed, ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { createClient, grpcTransport } from '../../../lib/client/index.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { type Altered, altered } from '../../support/grpc/altered.js'
import { ALICE, startServer } from '../../support/servers/server.js'
import { problemsOf } from '../typeorm/declarations.js'

const ANY = '.google.protobuf.Any'

/** Places of a google.protobuf.Any in a message, and how the error names them. */
const PLACES: Record<string, readonly [addTo: (proto: Altered) => void, where: string]> = {
  field: [(proto) => proto.addField('Task', 'worth', Type.MESSAGE, { typeName: ANY }), 'worth is a'],
  list: [
    (proto) => proto.addField('Task', 'worth', Type.MESSAGE, { typeName: ANY, repeated: true }),
    'worth is a',
  ],
  'map value': [(proto) => proto.addMap('Task', 'worth', Type.STRING, ANY), 'worth is a'],
  'oneof member': [
    (proto) => {
      proto.addField('Task', 'worth', Type.MESSAGE, { typeName: ANY })
      proto.addField('Task', 'label')
      proto.addOneof('Task', 'kind', ['worth', 'label'])
    },
    'worth is a',
  ],
  'nested message': [
    (proto) => {
      proto.addMessage('Outer')
      proto.addMessage('Inner')
      proto.addField('Inner', 'detail', Type.MESSAGE, { typeName: ANY })
      proto.addField('Outer', 'inner', Type.MESSAGE, { typeName: '.plans.v1.Inner' })
      proto.addField('Task', 'worth', Type.MESSAGE, { typeName: '.plans.v1.Outer' })
    },
    'worth holds inner of plans.v1.Outer, which holds detail of plans.v1.Inner, which is a',
  ],
}

const REMOVED = ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time']

const serviceWith = (addTo: (proto: Altered) => void): typeof TaskService =>
  altered(
    TaskService,
    (proto) => {
      for (const name of REMOVED) proto.removeField('Task', name)
      for (const one of proto.file.service)
        one.method = one.method.filter(({ name }) => /^(?:Get|List|Create|Update)Task/.test(name))
      addTo(proto)
    },
    [file_google_protobuf_any],
  )

describe('a google.protobuf.Any', () => {
  for (const [place, [addTo, where]] of Object.entries(PLACES))
    it(`as ${place} in a column is rejected with its field and what to write`, () => {
      @Resource({ message: serviceWith(addTo).method.getTask.output })
      @TenantScoped()
      @Entity('tasks')
      class Task {
        @PrimaryColumn({ length: 40 }) id!: string
        @Column() title!: string
        @Column({ nullable: true }) label?: string
        @ETag() etag!: string
        @Column('simple-json', { nullable: true }) worth?: object
        @Column() accountId!: string
      }
      expect(problemsOf(Task).filter((problem) => problem.startsWith('worth'))).to.deep.equal([
        `${where} google.protobuf.Any, which cannot be stored: compute it with @Computed(), or remove it from the message`,
      ])
    })

  it('is returned over gRPC and HTTP if it is computed', async () => {
    const service = serviceWith(PLACES['field']![0])
    const seconds = ({ title }: { title: string }) => create(DurationSchema, { seconds: BigInt(title) })
    @Resource({ message: service.method.getTask.output })
    @TenantScoped()
    @Entity('tasks')
    class Task {
      @PrimaryColumn({ length: 40 }) id!: string
      @Column() title!: string
      @ETag() etag!: string
      @Computed<Task>((task) => anyPack(DurationSchema, seconds(task))) worth?: Any
      @Column() accountId!: string
    }
    const tasks = new (memoryRepositoryOf(Task))({})
    const running = await startServer((builder) => builder.register(service, tasks as never), {})
    const transport = grpcTransport(running.grpc)
    try {
      const client = createClient(service, { transport, metadata: ALICE })
      const made = await client.createTask({ task: { id: 'a', title: '3' } as never })
      const { worth } = made as never as { worth: Any }
      expect(worth).to.deep.equal(anyPack(DurationSchema, create(DurationSchema, { seconds: 3n })))
      const response = await fetch(`${running.http}/v1/tasks/a`, { headers: ALICE })
      const body = (await response.json()) as { worth: unknown }
      expect(body.worth).to.deep.equal({
        '@type': 'type.googleapis.com/google.protobuf.Duration',
        value: '3s',
      })
    } finally {
      transport.close()
      await running.stop()
    }
  })
})
