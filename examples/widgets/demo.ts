import { parseArgs } from 'node:util'
import { createChannel, createClient, Metadata } from 'nice-grpc'
import { definitionOf, jsonLogger } from '../../lib/index.js'
import { WidgetService } from './gen/widgets_pb.js'
import { widgetServer } from './main.js'
import { Screen } from './screen.js'
import { grpcTour } from './tour-grpc.js'
import { httpTour } from './tour-http.js'

const { values } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    grpc: { type: 'string', default: ':9090' },
    http: { type: 'string', default: ':8080' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (values.help) {
  console.log(
    'npm run demo -- [--once] [--grpc :9090] [--http :8080]\n\nWalks through the widget service, then stays up; --once ends it.',
  )
  process.exit(0)
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

// The tour prints every call itself; the server only says what goes wrong.
const logger = jsonLogger('error')
const server = await widgetServer({
  database: ':memory:',
  grpcAddr: values.grpc,
  httpAddr: values.http,
  logger,
})
const serving = server.serve(stop.signal)
serving.catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  console.error('Another address can be given: npm run demo -- --grpc :9191 --http :8181')
  process.exit(1)
})
await server.ready()

const screen = new Screen(process.stdout.isTTY)
const grpcAddress = local(server.grpcAddr())
const url = `http://${local(server.httpAddr())}`
const channel = createChannel(grpcAddress)
try {
  const as = (tenant: string) => ({
    metadata: Metadata({ 'account-id': tenant, subject: 'ada', groups: 'staff' }),
  })
  await grpcTour(createClient(definitionOf(WidgetService), channel), as, screen)
  await httpTour(url, screen)
} finally {
  channel.close()
}

if (values.once) stop.abort()
else {
  screen.title('Still running')
  screen.say(`gRPC  ${grpcAddress}   (metadata: account-id, subject, groups)`)
  screen.say(`HTTP  ${url}/v1/widgets   (paste any curl line above; /healthz and /readyz work too)`)
  screen.say('Ctrl-C ends it.')
}
await serving

/** An address to connect to where the server is bound to every one. */
function local(address: string): string {
  return address.replace(/^(?:\[::\]|0\.0\.0\.0)?:/, '127.0.0.1:')
}
