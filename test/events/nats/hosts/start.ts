import { consumer, natsSink, relay } from '../../../../lib/events/index.js'
import { MemoryDatabase } from '../../../../lib/persistence/index.js'
import { ServerBuilder } from '../../../../lib/server/index.js'
import { recordingLogger } from '../../../support/servers/server.js'

/** Prints why a server with a relay and a consumer does not start. */
const [dataSource, nats] = [new MemoryDatabase(), { servers: 'nats://127.0.0.1:1' }]
const workers = [
  relay({ dataSource, sink: natsSink(nats) }),
  consumer({ name: 'mails', dataSource, nats }, () => Promise.resolve()),
  consumer({ name: 'local', dataSource }, () => Promise.resolve()),
]
const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })
  .workers(...workers)
  .build()
const ending = new AbortController()
const serving = server.serve(ending.signal)
const said = await Promise.race([server.ready(), serving]).then(
  () => 'started',
  (error: unknown) => String(error),
)
ending.abort()
await serving.catch(() => {})
process.stdout.write(said)
