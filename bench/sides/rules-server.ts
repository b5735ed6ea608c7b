import type { DescService } from '@bufbuild/protobuf'
import { devAuthorizer, devPrincipal, jsonLogger, ServerBuilder } from '../../lib/index.js'
import { thingsService } from './things.js'

/** Serves `Check(Thing)`, which returns its request, with the given number of required fields. */
export async function serveThings(required: number): Promise<void> {
  const server = new ServerBuilder()
    .grpcAddr('127.0.0.1:0')
    .logger(jsonLogger('error'))
    .principalFunc(devPrincipal)
    .authorizer(devAuthorizer([{ tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'thing' }]))
    .allowDevelopment()
    .register(thingsService(required) as DescService, { check: (request: object) => request } as never)
    .build()
  server.serve(new AbortController().signal).catch((error: unknown) => {
    throw error
  })
  await server.ready()
  process.send?.({ ports: { grpc: Number(server.grpcAddr().split(':').at(-1)) } })
}
