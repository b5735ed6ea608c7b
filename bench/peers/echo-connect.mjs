import { createServer } from 'node:http2'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { EchoService } from './echo-schema.mjs'

/** An echo service with connect-node over gRPC. */
const server = createServer(
  connectNodeAdapter({
    routes: (router) => router.service(EchoService, { echo: ({ payload }) => ({ payload }) }),
  }),
)
server.listen(0, '127.0.0.1', () => process.send({ ports: { grpc: server.address().port } }))
