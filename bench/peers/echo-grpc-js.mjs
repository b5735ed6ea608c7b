import grpc from '@grpc/grpc-js'
import protobuf from 'protobufjs'

/** An echo service on @grpc/grpc-js without interceptors, with a codec compiled by protobufjs. */
const { root } = protobuf.parse('syntax = "proto3"; package echo.v1; message Message { string payload = 1; }')
const Message = root.lookupType('echo.v1.Message')
const serialize = (message) => Message.encode(message).finish()
const deserialize = (bytes) => Message.decode(bytes)

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
  { echo: (call, done) => done(null, { payload: call.request.payload }) },
)
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send({ ports: { grpc: port } })
})
