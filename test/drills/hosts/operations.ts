import { once } from 'node:events'
import { create } from '@bufbuild/protobuf'
import { DataSource } from 'typeorm'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import type { ServerCall } from '../../../lib/call.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { SqlOperationStore } from '../../../lib/server/operations/sql-operation-store.js'
import { type EchoRequest, EchoResponseSchema } from '../../support/gen/specimens_pb.js'
import { ALL, partly, recordingLogger } from '../../support/servers/server.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'

/**
 * A server process of operations-killed.test.ts: `echo` starts an operation that works until it is told to
 * end (`text` is `end`), or is cancelled. Says where it listens, and when an operation was cancelled here.
 */
const [, , type = '', url = ''] = process.argv
const dataSource = await new DataSource({
  type: type as 'postgres' | 'mariadb',
  url,
  entities: [],
}).initialize()

const server = new ServerBuilder({
  grpcAddr: '127.0.0.1:0',
  authorizer: devAuthorizer([ALL]),
  principalFunc: devPrincipal,
  allowDevelopment: true,
  logger: recordingLogger(),
  operationStore: new SqlOperationStore(dataSource),
})
  .register(
    SlowEcho,
    partly(SlowEcho, {
      echo: ({ text }: EchoRequest, call: ServerCall) =>
        call.operations.start({}, async ({ name, signal }) => {
          if (text === 'end') return create(EchoResponseSchema, { text })
          await once(signal, 'abort')
          process.send?.({ cancelled: name })
          throw signal.reason
        }),
    }),
  )
  .build()

const served = server.serve(new AbortController().signal)
await Promise.race([server.ready(), served])
process.send?.({ address: server.grpcAddr() })
await served
