import { exchanges } from '../tour/exchanges.js'
import type { Screen } from '../tour/screen.js'

const ADA = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
const GRACE = { 'account-id': 'acme', subject: 'grace', groups: 'staff,managers,warehouse' }

/** Walks through the order service. Throws when a status is not the expected one. */
export async function orderTour(_grpcAddress: string, url: string, screen: Screen): Promise<void> {
  const ask = exchanges(url, screen, ADA)
  const place = (lines: readonly object[], status: number) =>
    ask({ method: 'POST', path: '/v1/orders:place', body: { customerId: 'ada', lines }, status })
  const idOf = ({ text }: { text: string }) => (JSON.parse(text) as { id: string }).id

  screen.title('Orders, over HTTP/JSON')
  screen.step('A customer and two products')
  const ada = { displayName: 'Ada', email: 'ada@example.com' }
  await ask({ method: 'POST', path: '/v1/customers?customerId=ada', body: ada, status: 200 })
  for (const [id, priceCents, stock] of [
    ['anvil', '60000', 3],
    ['bolt', '25', 100],
  ] as const) {
    const body = { displayName: id, priceCents, stock }
    await ask({ method: 'POST', path: `/v1/products?productId=${id}`, body, status: 200 })
  }
  await ask({ method: 'POST', path: '/v1/customers', body: { email: 'nowhere' }, status: 400 })
  screen.shows('Rules of one message are in the .proto; a client is told everything that is wrong at once.')

  screen.step('Place an order')
  const small = idOf(await place([{ productId: 'bolt', quantity: 40 }], 200))
  await ask({ path: `/v1/orders/${small}/lines?read_mask=quantity,product`, status: 200 })
  await ask({ path: '/v1/products/bolt', status: 200 })
  screen.shows(
    'Stock, lines and total in one transaction; the mail goes out after its commit. A read mask shows the product.',
  )

  screen.step('Who ordered bolts?')
  const bought = new URLSearchParams({
    filter: 'customer.display_name = "Ada" AND lines.product_id = "bolt"',
  })
  await ask({ path: `/v1/orders?${bought.toString()}`, status: 200 })
  screen.shows('A filter leads to customers and lines, because the caller may list these.')

  screen.step('All of it or nothing')
  await place(
    [
      { productId: 'bolt', quantity: 10 },
      { productId: 'anvil', quantity: 4 },
    ],
    400,
  )
  await ask({ path: '/v1/products/bolt', status: 200 })
  screen.shows('There are 3 anvils, so there still are 60 bolts, and there was no mail.')

  screen.step('An order above the limit')
  const large = idOf(await place([{ productId: 'anvil', quantity: 2 }], 200))
  const approve = `/v1/orders/${large}:approve`
  const adaAsManager = { ...ADA, groups: 'managers' }
  await ask({ method: 'POST', path: approve, body: {}, status: 403 })
  await ask({ method: 'POST', path: approve, as: adaAsManager, body: {}, status: 403 })
  await ask({ method: 'POST', path: approve, as: GRACE, body: {}, status: 200 })
  screen.shows('The authorizer asks for a manager, and the rule for another one than who placed the order.')

  screen.step('What cannot be changed any more')
  const patch = { method: 'PATCH', path: `/v1/orders/${large}?update_mask=note`, body: { note: 'by air' } }
  await ask({ ...patch, status: 400 })
  await ask({ ...patch, path: `/v1/orders/${small}?update_mask=note`, status: 200 })
  await ask({ method: 'DELETE', path: '/v1/customers/ada', status: 400 })
  screen.shows('A wrapped Update, and a relation: a customer with orders stays.')

  screen.step('Counters')
  await ask({ method: 'PATCH', path: '/v1/products/bolt?update_mask=stock', body: { stock: 1 }, status: 400 })
  await ask({
    ...{ method: 'POST', path: '/v1/products/bolt:restock', as: GRACE },
    ...{ body: { quantity: 5 }, status: 200 },
  })
  await ask({ method: 'POST', path: `/v1/orders/${small}:cancel`, body: {}, status: 200 })
  await ask({ path: '/v1/products/bolt', status: 200 })
  await ask({ method: 'DELETE', path: `/v1/orders/${small}`, status: 200 })
  screen.shows('Nobody writes a stock that somebody read before: it is changed where its row is locked.')

  screen.step('Another tenant')
  await ask({ path: `/v1/orders/${small}`, as: { ...ADA, 'account-id': 'globex' }, status: 404 })
  screen.shows('No rule had to think of it.')
}
