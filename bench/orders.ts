import { deepStrictEqual } from 'node:assert'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { orderServer } from '../examples/orders/main.js'
import { migrate } from '../lib/migrations/index.js'
import { testDatabase } from '../test/support/databases/test-database.js'
import { installPeers } from './install-peers.js'
import { ORDERS, ORDERS_PEER, sizesOfOrders } from './source-size.js'

/**
 * `npm run bench:orders`: sends the same calls to examples/orders and to its peer, checks that the results
 * are equal, and prints the size of both.
 */
const ROOT = join(import.meta.dirname, '..', '..')
const BUILT = join(ROOT, 'bench/node_modules/.cache/orders')

type Ask = (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<readonly [number, Record<string, unknown>]>

const ADA = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
const GRACE = { 'account-id': 'acme', subject: 'grace', groups: 'staff,managers,warehouse' }
const EVE = { ...GRACE, 'account-id': 'globex' }

const asker =
  (url: string): Ask =>
  async (method, path, body, headers = ADA) => {
    const json = { 'content-type': 'application/json' }
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body !== undefined && json) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return [response.status, (await response.json()) as Record<string, unknown>]
  }

/** The fields that a client receives, without generated ones. */
const SHOWN = [
  'stock',
  'state',
  'totalCents',
  'placedBy',
  'approvedBy',
  'customerId',
  'email',
  'note',
  'code',
]

async function story(ask: Ask): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  const step: Ask = async (...call) => {
    const [status, body] = await ask(...call)
    const shown = SHOWN.flatMap((name) =>
      body[name] === undefined || body[name] === '' ? [] : [[name, body[name]]],
    )
    seen.push([
      call[0],
      call[1].replaceAll(/[0-9a-f-]{36}|(?<=page_token=).+/g, '*'),
      status,
      Object.fromEntries(shown),
    ])
    return [status, body]
  }
  const place = async (lines: Record<string, number>, customerId = 'c') => {
    const list = Object.entries(lines).map(([productId, quantity]) => ({ productId, quantity }))
    return String((await step('POST', '/v1/orders:place', { customerId, lines: list }))[1]['id'])
  }
  const customer = { displayName: 'C', email: 'C@example.com' }
  const [, made] = await step('POST', '/v1/customers?customer_id=c', customer)
  await step('POST', '/v1/customers', customer)
  await step('POST', '/v1/customers', { displayName: 'D', email: 'nowhere' })
  await step('GET', '/v1/customers/c', undefined, EVE)
  await step('GET', '/v1/customers/c', undefined, { ...ADA, groups: '' })
  for (const id of ['anvil', 'bolt'])
    await step('POST', `/v1/products?product_id=${id}`, { displayName: id, priceCents: '60000', stock: 5 })
  await step('PATCH', '/v1/products/bolt?update_mask=stock', { stock: 9 })
  const order = await place({ bolt: 1 })
  await place({ bolt: 9 })
  await place({ anvil: 1, cog: 1 })
  await place({ anvil: 1 }, 'nobody')
  const large = await place({ anvil: 2, bolt: 1 })
  await step('GET', `/v1/orders/${order}`)
  await step('GET', `/v1/orders/${order}`, undefined, EVE)
  await step('POST', `/v1/orders/${large}:approve`, {}, { ...ADA, groups: 'managers' })
  await step('POST', `/v1/orders/${large}:approve`, {}, GRACE)
  await step('PATCH', `/v1/orders/${large}?update_mask=note`, { note: 'late' })
  await step('PATCH', `/v1/orders/${order}?update_mask=note`, { note: 'soon' })
  await step('PATCH', `/v1/orders/${order}?update_mask=note`, { note: 'no' }, { ...ADA, 'if-match': '"old"' })
  await step('PATCH', `/v1/orders/${order}?update_mask=note`, { note: 'no' }, { ...ADA, subject: 'alan' })
  const [, { lines }] = await ask('GET', `/v1/orders/${large}/lines?read_mask=quantity,product`)
  const products = (lines as { quantity: number; product: { id: string; stock: number } }[])
    .map(({ quantity, product: { id, stock } }) => [id, stock, quantity] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  seen.push(products)
  const [, first] = await ask('GET', '/v1/orders?page_size=1')
  const [, second] = await ask('GET', `/v1/orders?page_size=1&page_token=${String(first['nextPageToken'])}`)
  seen.push([(first['orders'] as object[]).length, (second['orders'] as object[]).length, first['totalSize']])
  await step('GET', `/v1/products?page_token=${String(first['nextPageToken'])}`)
  await step('DELETE', '/v1/customers/c')
  await step('DELETE', `/v1/orders/${large}`, undefined, GRACE)
  await step('DELETE', `/v1/orders/${order}`)
  await step('GET', `/v1/orders/${order}`)
  await step('GET', '/v1/products/bolt')
  await step('POST', '/v1/products/bolt:restock', { quantity: 3 }, GRACE)
  const dozen = Array.from({ length: 12 }, () =>
    ask('POST', '/v1/orders:place', {
      customerId: 'c',
      lines: [{ productId: 'bolt', quantity: 1 }],
    }),
  )
  seen.push((await Promise.all(dozen)).map(([status]) => status).sort((a, b) => a - b))
  await step('GET', '/v1/products/bolt')
  await step(
    'PATCH',
    '/v1/customers/c?update_mask=display_name',
    { displayName: 'E' },
    {
      ...ADA,
      'if-match': `"${String(made['etag'])}"`,
    },
  )
  return seen
}

async function inOurs(): Promise<readonly unknown[]> {
  const database = await testDatabase('postgres')
  await migrate({ url: database.url, files: join(ORDERS, 'migrations') }).up()
  const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
  const server = await orderServer({ database: database.url, ...addresses, mail: () => {} })
  const stop = new AbortController()
  const served = server.serve(stop.signal)
  await Promise.race([server.ready(), served])
  const seen = await story(asker(`http://${server.httpAddr()}`))
  stop.abort()
  await served
  await database.drop().catch(() => {})
  return seen
}

async function inPeer(): Promise<readonly unknown[]> {
  installPeers()
  mkdirSync(BUILT, { recursive: true })
  for (const name of readdirSync(ORDERS_PEER)) {
    const { outputText } = ts.transpileModule(readFileSync(join(ORDERS_PEER, name), 'utf8'), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      },
    })
    writeFileSync(join(BUILT, name.replace('.mts', '.mjs')), outputText)
  }
  const database = await testDatabase('postgres')
  await migrate({ url: database.url, files: join(ORDERS, 'migrations') }).up()
  const child = fork(join(BUILT, 'main.mjs'), {
    env: { ...process.env, ORDERS_DATABASE: database.url, PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const seen = await story(asker(url))
  child.kill()
  await once(child, 'exit')
  await database.drop().catch(() => {})
  return seen
}

const [ours, peer] = [await inOurs(), await inPeer()]
deepStrictEqual(peer, ours)
console.log(`${ours.length} results are equal`)
for (const { what, lines, bytes } of sizesOfOrders())
  console.log(`${what.padEnd(32)} ${lines} lines, ${bytes} bytes`)
process.exit()
