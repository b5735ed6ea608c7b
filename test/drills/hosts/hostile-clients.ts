import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ALL, recordingLogger } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/** The server process of hostile.test.ts, by itself so that its memory is its own. */
const CHUNK = 'x'.repeat(64 * 1024)
const counts = { sent: 0, inside: 0, mostInside: 0 }

const logger = recordingLogger()
const quiet = { ...logger, info: () => {}, warn: () => {}, error: () => {} }
const { searchParams } = new URL(process.argv[2] ?? '', 'limits:/')
const server = new ServerBuilder({
  grpcAddr: '127.0.0.1:0',
  httpAddr: '127.0.0.1:0',
  authorizer: devAuthorizer([ALL]),
  principalFunc: devPrincipal,
  allowDevelopment: true,
  logger: quiet,
  limits: Object.fromEntries([...searchParams].map(([name, value]) => [name, Number(value)])),
})
  .register(EchoService, {
    ...echoService,
    echo: async ({ text, flag }, { signal }) => {
      counts.mostInside = Math.max(counts.mostInside, ++counts.inside)
      try {
        // `flag`: whoever asked is kept until it goes away.
        if (flag && !signal.aborted)
          await new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          )
        return { text: text === 'much' ? CHUNK.repeat(4) : text }
      } finally {
        counts.inside--
      }
    },
    count: async function* ({ upto }) {
      for (let n = 0; n < upto; n++) {
        counts.sent++
        yield await Promise.resolve({ text: CHUNK })
      }
    },
  })
  .build()

process.on('message', () => {
  for (let n = 0; n < 4; n++) globalThis.gc?.()
  process.send?.({ ...counts, rss: process.memoryUsage().rss })
  counts.mostInside = counts.inside
})
process.once('disconnect', () => process.exit())
const served = server.serve(new AbortController().signal)
await Promise.race([server.ready(), served])
process.send?.({ grpc: server.grpcAddr(), http: server.httpAddr() })
await served
