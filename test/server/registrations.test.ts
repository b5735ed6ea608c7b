import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../decorators/index.js'
import { createClient } from '../../lib/client/index.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { definitionOf } from '../../lib/server/index.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'

const coder = { encode: () => undefined, decode: () => undefined }
const method = { requestType: coder, requestStream: false, responseType: coder, responseStream: false }
const GRPC_JS = { getTask: { path: '/a.TaskService/GetTask', requestStream: false } }
/** What generators write for a service, and how a refusal names it. */
const SERVICES: Readonly<Record<string, unknown>> = {
  'a.TaskService of ts-proto': {
    name: 'TaskService',
    fullName: 'a.TaskService',
    methods: { getTask: method },
  },
  'a.TaskService of @grpc/grpc-js': GRPC_JS,
  'TaskService of protobuf.js': class TaskService {
    static create = () => undefined
  },
  'a.TaskService of Protobuf-ES 1': { typeName: 'a.TaskService', methods: { getTask: {} } },
  '"TaskService"': 'TaskService',
  'an object': {},
  'a function': class TaskServiceClient {},
  undefined: undefined,
}
const MESSAGES: Readonly<Record<string, unknown>> = {
  'code of ts-proto': { ...coder, fromPartial: () => undefined },
  'a.Task of ts-proto': { ...coder, $type: 'a.Task' },
  'Task of protobuf.js': class Task {
    static encode = () => undefined
  },
  'a.Task of Protobuf-ES 1': class Task {
    static readonly typeName = 'a.Task'
    static readonly fields = { list: () => [] }
  },
  'Task of google-protobuf': class Task {
    static deserializeBinary = () => undefined
  },
  'Task of @grpc/proto-loader': { format: 'Protocol Buffer 3 DescriptorProto', type: { name: 'Task' } },
}

const NEEDED = 'the descriptor of a service, such as TaskService of what @bufbuild/protoc-gen-es 2 generates'

describe('what other generators write', () => {
  for (const [shown, service] of Object.entries(SERVICES))
    it(`is refused as a service: ${shown}`, () => {
      const builder = new ServerBuilder({ grpcAddr: '127.0.0.1:0' }).register(service as never, {} as never)
      expect(() => builder.build()).to.throw(`register takes ${NEEDED}, not ${shown}`)
    })

  for (const [shown, message] of Object.entries(MESSAGES))
    it(`is refused as the message of an entity: ${shown}`, () => {
      const declared = () => {
        @Resource({ message: message as never, shared: true })
        @Entity('tasks')
        class Task {
          @PrimaryColumn() id!: string
          @Column() text!: string
        }
        return memoryRepositoryOf(Task)
      }
      expect(declared).to.throw(
        `Task: 1 problem(s)\n  - @Resource: message is ${shown}, but must be the schema of a message`,
      )
    })

  it('is refused for a client', () => {
    const service = GRPC_JS as never
    const rest = `takes ${NEEDED}, not a.TaskService of @grpc/grpc-js`
    expect(() => createClient(service, {} as never)).to.throw(`createClient ${rest}`)
    expect(() => definitionOf(service)).to.throw(`definitionOf ${rest}`)
  })
})
