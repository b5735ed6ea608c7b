import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../decorators/index.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'

const coder = { encode: () => undefined, decode: () => undefined }
const method = { requestType: coder, requestStream: false, responseType: coder, responseStream: false }
const SERVICES: Readonly<Record<string, unknown>> = {
  'ts-proto for nice-grpc': { name: 'TaskService', fullName: 'a.TaskService', methods: { getTask: method } },
  'ts-proto for grpc-js': { getTask: { path: '/a.TaskService/GetTask', requestStream: false } },
  'protobuf.js': class TaskService {
    static create = () => undefined
  },
  nothing: undefined,
}
const MESSAGES: Readonly<Record<string, unknown>> = {
  'ts-proto': { encode: () => undefined, decode: () => undefined, fromPartial: () => undefined },
  'protobuf.js': class Task {
    static encode = () => undefined
  },
  'Protobuf-ES 1': class Task {
    static readonly typeName = 'a.Task'
    static readonly fields = { list: () => [] }
  },
}

describe('what other generators write', () => {
  for (const [generator, service] of Object.entries(SERVICES))
    it(`is refused as a service, which ${generator} writes`, () => {
      const builder = new ServerBuilder({ grpcAddr: '127.0.0.1:0' }).register(service as never, {} as never)
      expect(() => builder.build()).to.throw(/register takes the descriptor of a service.*protoc-gen-es 2/)
    })

  for (const [generator, message] of Object.entries(MESSAGES))
    it(`is refused as the message of an entity, which ${generator} writes`, () => {
      const declared = () => {
        @Resource({ message: message as never, shared: true })
        @Entity('tasks')
        class Task {
          @PrimaryColumn() id!: string
          @Column() text!: string
        }
        return memoryRepositoryOf(Task)
      }
      expect(declared).to.throw(/message is an? \w+, and has to be the schema of a message.*protoc-gen-es 2/)
    })
})
