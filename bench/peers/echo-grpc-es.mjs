import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import grpc from '@grpc/grpc-js'
import { MessageSchema } from './echo-schema.mjs'

/** An echo service on @grpc/grpc-js without interceptors, with the codec of protobuf-es. */
const serialize = (message) => Buffer.from(toBinary(MessageSchema, message))
const deserialize = (bytes) => fromBinary(MessageSchema, bytes)

const server = new grpc.Server()
server.addService(
  {
    echo: {
      path: '/echo.v1.EchoService/Echo',
      requestStream: false,
      responseStream: false,
      requestSerialize: serialize,
      requestDeserialize: deserialize,
      responseSerialize: serialize,
      responseDeserialize: deserialize,
    },
  },
  { echo: (call, done) => done(null, create(MessageSchema, { payload: call.request.payload })) },
)
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send({ ports: { grpc: port } })
})
