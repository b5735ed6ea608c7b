import { setTimeout as pause } from 'node:timers/promises'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import type { ServerCall } from '../../../lib/call.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { type EchoRequest, EchoService } from '../../support/gen/specimens_pb.js'
import { ALL, recordingLogger } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/**
 * A server process of shutdown-load.test.ts: `echo` takes as many milliseconds as its `number` says (less
 * than nothing: for ever, deaf to its signal), `count` as many between two answers. Says where it listens;
 * says how many calls it has taken each time it takes one, stops when it is told to, and says which calls it
 * took when `serve` has resolved.
 */
const taken: string[] = []
const take = (name: string) => {
  taken.push(name)
  process.send?.({ count: taken.length })
}

const server = new ServerBuilder({
  grpcAddr: '127.0.0.1:0',
  httpAddr: '127.0.0.1:0',
  authorizer: devAuthorizer([ALL]),
  principalFunc: devPrincipal,
  allowDevelopment: true,
  logger: recordingLogger(),
  resilience: { requestTimeoutMs: 60_000 },
})
  .register(EchoService, {
    ...echoService,
    echo: async ({ text, number }: EchoRequest, { signal }: ServerCall) => {
      take(text)
      if (number < 0n) await new Promise<never>(() => {})
      await pause(Number(number), undefined, { signal })
      return { text }
    },
    count: async function* ({ upto, pauseMs }, { metadata, signal }: ServerCall) {
      take(metadata.get('subject') ?? '')
      for (let n = 1; n <= upto; n++) {
        await pause(pauseMs, undefined, { signal })
        yield { text: String(n) }
      }
    },
  })
  .build()

const stop = new AbortController()
process.on('message', (what) => {
  if (what === 'stop') stop.abort()
})
const served = server.serve(stop.signal)
await Promise.race([server.ready(), served])
process.send?.({ grpc: server.grpcAddr(), http: server.httpAddr() })
await served
process.send?.({ taken }, () => process.disconnect())
