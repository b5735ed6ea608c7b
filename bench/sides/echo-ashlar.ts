import type { DescService } from '@bufbuild/protobuf'
import { devAuthorizer, devPrincipal, jsonLogger, ServerBuilder } from '../../lib/index.js'
import { echoService } from './echo.js'

/** The server: the complete chain, with an authorizer that is called each time. */
const server = new ServerBuilder()
  .grpcAddr('127.0.0.1:0')
  .logger(jsonLogger('error'))
  .principalFunc(devPrincipal)
  .authorizer(devAuthorizer([{ tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'echo' }]))
  .allowDevelopment()
  .register(echoService() as DescService, { echo: (request: object) => request } as never)
  .build()

server.serve(new AbortController().signal).catch((error: unknown) => {
  throw error
})
await server.ready()
process.send?.({ ports: { grpc: Number(server.grpcAddr().split(':').at(-1)) } })
