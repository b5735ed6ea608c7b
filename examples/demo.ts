import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { jsonLogger } from '../lib/index.js'
import { orderServer } from './orders/main.js'
import { orderTour } from './orders/tour.js'
import { Screen } from './tour/screen.js'
import { widgetServer } from './widgets/main.js'
import { widgetTour } from './widgets/tour.js'

const EXAMPLES = new Map([
  ['widgets', { serverOf: widgetServer, tour: widgetTour, path: '/v1/widgets', beside: undefined }],
  ['orders', { serverOf: orderServer, tour: orderTour, path: '/v1/orders', beside: 'orders/warehouse.js' }],
])

/** It has a provider beside it, so it has a way of its own. */
const SIGN_IN = 'sign-in'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    once: { type: 'boolean', default: false },
    grpc: { type: 'string', default: ':9090' },
    http: { type: 'string' },
    idp: { type: 'string', default: '8080' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const [name = 'widgets'] = positionals
const example = EXAMPLES.get(name)
if (values.help || (example === undefined && name !== SIGN_IN) || positionals.length > 1) {
  console.log(
    `npm run demo -- [${[...EXAMPLES.keys(), SIGN_IN].join('|')}] [--once] [--grpc :9090] [--http :8080]\n\nWalks through an example, widgets by default, then stays up; --once ends it.\n${SIGN_IN} serves at :3000, because its identity provider has 8080; --idp gives that another port.`,
  )
  process.exit(values.help ? 0 : 2)
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

if (example === undefined) {
  const { signInDemo } = await import('./sign-in/demo.js')
  await signInDemo({
    isOnce: values.once,
    grpcAddr: values.grpc,
    httpAddr: values.http ?? ':3000',
    providerPort: Number(values.idp),
    screen: new Screen(process.stdout.isTTY),
    stop,
  })
  process.exit()
}

// Another process reads it too.
const folder = example.beside === undefined ? undefined : mkdtempSync(join(tmpdir(), 'ashlar-demo-'))
const file = folder === undefined ? undefined : join(folder, 'demo.sqlite')

// The tour prints every call itself; the server only says what goes wrong.
const logger = jsonLogger('error')
const server = await example.serverOf({
  database: file ?? ':memory:',
  grpcAddr: values.grpc,
  httpAddr: values.http ?? ':8080',
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
const beside =
  file !== undefined && example.beside !== undefined ? startBeside(example.beside, file) : undefined
if (beside !== undefined) {
  screen.title('Another process')
  screen.say('The warehouse hears of the orders that were placed:')
  await Promise.race([once(beside.stdout, 'data'), once(beside, 'exit'), pause(10_000)])
}

if (values.once) stop.abort()
else {
  screen.title('Still running')
  screen.say(`gRPC  ${grpcAddress}   (metadata: account-id, subject, groups)`)
  screen.say(`HTTP  ${url}${example.path}   (paste any curl line above; /healthz and /readyz work too)`)
  screen.say('Ctrl-C ends it.')
}
await serving
if (beside !== undefined) {
  beside.kill()
  if (beside.exitCode === null) await once(beside, 'exit')
}
if (folder !== undefined) rmSync(folder, { recursive: true })

/** Prints what it prints. */
function startBeside(program: string, database: string) {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const env = { ...process.env, ORDERS_DATABASE: database }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.on('data', (text: Buffer) => screen.say(text.toString().trimEnd()))
  return child
}

/** An address to connect to where the server is bound to every one. */
function local(address: string): string {
  return address.replace(/^(?:\[::\]|0\.0\.0\.0)?:/, '127.0.0.1:')
}
