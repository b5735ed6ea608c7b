import { parseArgs } from 'node:util'
import { jsonLogger } from '../lib/index.js'
import { orderServer } from './orders/main.js'
import { orderTour } from './orders/tour.js'
import { Screen } from './tour/screen.js'
import { widgetServer } from './widgets/main.js'
import { widgetTour } from './widgets/tour.js'

const EXAMPLES = new Map([
  ['widgets', { serverOf: widgetServer, tour: widgetTour, path: '/v1/widgets' }],
  ['orders', { serverOf: orderServer, tour: orderTour, path: '/v1/orders' }],
])

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    once: { type: 'boolean', default: false },
    grpc: { type: 'string', default: ':9090' },
    http: { type: 'string', default: ':8080' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const [name = 'widgets'] = positionals
const example = EXAMPLES.get(name)
if (values.help || example === undefined || positionals.length > 1) {
  console.log(
    `npm run demo -- [${[...EXAMPLES.keys()].join('|')}] [--once] [--grpc :9090] [--http :8080]\n\nWalks through an example, widgets by default, then stays up; --once ends it.`,
  )
  process.exit(values.help ? 0 : 2)
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

// The tour prints every call itself; the server only says what goes wrong.
const logger = jsonLogger('error')
const server = await example.serverOf({
  database: ':memory:',
  grpcAddr: values.grpc,
  httpAddr: values.http,
  logger,
})
const serving = server.serve(stop.signal)
serving.catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  console.error(`Another address can be given: npm run demo -- ${name} --grpc :9191 --http :8181`)
  process.exit(1)
})
await server.ready()

const screen = new Screen(process.stdout.isTTY)
const grpcAddress = local(server.grpcAddr())
const url = `http://${local(server.httpAddr())}`
await example.tour(grpcAddress, url, screen)

if (values.once) stop.abort()
else {
  screen.title('Still running')
  screen.say(`gRPC  ${grpcAddress}   (metadata: account-id, subject, groups)`)
  screen.say(`HTTP  ${url}${example.path}   (paste any curl line above; /healthz and /readyz work too)`)
  screen.say('Ctrl-C ends it.')
}
await serving

/** An address to connect to where the server is bound to every one. */
function local(address: string): string {
  return address.replace(/^(?:\[::\]|0\.0\.0\.0)?:/, '127.0.0.1:')
}
