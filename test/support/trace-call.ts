import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { widgetsDataSource } from '../../examples/widgets/data-source.js'
import { widgetServer } from '../../examples/widgets/main.js'
import { jsonLogger } from '../../lib/index.js'
import { migrate } from '../../lib/migrations/index.js'
import { ForeignClient } from './grpc/clients.js'
import { compiled, root } from './root.js'

/**
 * Counts the functions of this project that one call runs after warm-up: `node
 * dist/test/support/trace-call.js [--list] [PostgreSQL URL]`. For each of the calls below, prints the number
 * of files, distinct functions and function calls that V8 counts, and each function with `--list`. Without a
 * URL, the calls on PostgreSQL are skipped. The client runs in another thread, so that only the server is
 * counted.
 */
const WARM_UP = 300
const SAMPLES = 9
const MIGRATIONS = pathToFileURL(join(root, 'examples/widgets/migrations/'))

interface Traced {
  readonly calls: ReadonlyMap<string, number>
  readonly total: number
}

interface Addresses {
  readonly grpc: string
  readonly http: string
}

type Kind = 'grpcGet' | 'httpGet' | 'httpPatch' | 'httpPatchIfMatch'

const ON_SQLITE = [
  ['grpcGet', 'gRPC Get'],
  ['httpPatch', 'HTTP PATCH'],
] as const
const ON_POSTGRES = [
  ['httpGet', 'HTTP GET on PostgreSQL'],
  ['httpPatchIfMatch', 'HTTP PATCH with If-Match on PostgreSQL'],
] as const

if (!isMainThread) await serveCalls(workerData as Addresses)
else {
  const asked = process.argv.slice(2)
  const postgres = asked.find((argument) => !argument.startsWith('--'))
  await trace(':memory:', ON_SQLITE, asked.includes('--list'))
  if (postgres !== undefined) await trace(postgres, ON_POSTGRES, asked.includes('--list'))
}

async function trace(
  database: string,
  calls: readonly (readonly [Kind, string])[],
  isListed: boolean,
): Promise<void> {
  const stop = new AbortController()
  const dataSource = widgetsDataSource(database)
  const server = await widgetServer({
    database: dataSource,
    grpcAddr: '127.0.0.1:0',
    httpAddr: '127.0.0.1:0',
    logger: jsonLogger('info', () => {}),
  })
  if (database !== ':memory:') await migrate({ url: database, files: MIGRATIONS }).up()
  const serving = server.serve(stop.signal)
  await server.ready()
  const client = new Worker(new URL(import.meta.url), {
    workerData: { grpc: server.grpcAddr(), http: server.httpAddr() } satisfies Addresses,
  })
  const broken = new Promise<never>((_resolve, reject) => client.once('error', reject))
  const call = (kind: Kind, times: number): Promise<void> => {
    const done = new Promise<void>((resolve) => client.once('message', () => setImmediate(resolve)))
    client.postMessage({ kind, times })
    return Promise.race([done, broken])
  }
  for (const [kind, title] of calls) {
    await call(kind, WARM_UP)
    const { calls: counts, total } = await leastOf(SAMPLES, () => traced(() => call(kind, 1)))
    const files = new Set([...counts.keys()].map((name) => name.slice(0, name.indexOf(' '))))
    console.log(`${title}: ${files.size} files, ${counts.size} functions, ${total} calls`)
    if (isListed)
      for (const [name, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
        console.log(`  ${count} ${name}`)
  }
  await client.terminate()
  stop.abort()
  await serving
  await dataSource.destroy()
}

/** Returns the sample with the fewest calls, because a timer may have run during the others. */
async function leastOf(samples: number, take: () => Promise<Traced>): Promise<Traced> {
  let least = await take()
  for (let sample = 1; sample < samples; sample++) {
    const next = await take()
    if (next.total < least.total) least = next
  }
  return least
}

async function traced(run: () => Promise<void>): Promise<Traced> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await run()
  await session.post('Profiler.takePreciseCoverage') // The first call after the start compiles functions lazily and is not counted.
  await run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const calls = new Map<string, number>()
  let total = 0
  for (const { url, functions } of result) {
    const file = ourFile(url)
    if (file === undefined) continue
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      if (range === undefined || range.count === 0) continue
      calls.set(`${file} ${functionName || '(anonymous)'} @${range.startOffset}`, range.count)
      total += range.count
    }
  }
  return { calls, total }
}

/** Returns the path of a source file of the project; undefined for generated code and other packages. */
function ourFile(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(url)
  const inside = path.slice(compiled.length + 1).replaceAll('\\', '/')
  return path.startsWith(compiled) && inside.startsWith('lib/') && !inside.includes('/gen/')
    ? inside
    : undefined
}

async function serveCalls({ grpc, http }: Addresses): Promise<void> {
  const identity = { 'account-id': 'acme', groups: 'staff' }
  const client = new ForeignClient(WidgetService, grpc)
  const { answer } = await client.unary(
    'CreateWidget',
    { widget: { display_name: 'Anvil', size: 7 } },
    identity,
  )
  const { id, etag: first } = answer as { readonly id: string; readonly etag: string }
  const widget = `http://${http}/v1/widgets/${id}`
  let size = 0
  let etag = first
  const patch = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    const answered = await fetch(`${widget}?update_mask=display_name`, {
      method: 'PATCH',
      headers: { ...identity, ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ display_name: `Anvil ${++size % 1000}` }),
    })
    if (!answered.ok) throw new TypeError(`PATCH: ${answered.status} ${await answered.text()}`)
    etag = ((await answered.json()) as { readonly etag: string }).etag
  }
  const once: Record<Kind, () => Promise<unknown>> = {
    grpcGet: () => client.unary('GetWidget', { id }, identity),
    httpGet: async () => {
      const answered = await fetch(widget, { headers: identity })
      if (!answered.ok) throw new TypeError(`GET: ${answered.status} ${await answered.text()}`)
      await answered.arrayBuffer()
    },
    httpPatch: () => patch({}),
    httpPatchIfMatch: () => patch({ 'if-match': `"${etag}"` }),
  }
  parentPort?.on('message', ({ kind, times }: { readonly kind: Kind; readonly times: number }) => {
    const run = async () => {
      for (let call = 0; call < times; call++) await once[kind]()
      parentPort?.postMessage('done')
    }
    void run()
  })
}
